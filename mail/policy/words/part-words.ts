import type { Sample } from '../sample.ts';
import { countWord } from './text-words.ts';

const MAX_PARTS = 20;
const MAX_HTML = 128 * 1024;

/** Extracts words from attachments: types, file extensions, sizes. */
export function partWords(parts: Sample['parts']): string[] {
  const some = parts.slice(0, MAX_PARTS);
  return [
    `parts ${Math.min(parts.length, 5)}`,
    ...some.flatMap(({ type, name, size }) => [
      `part ${type.slice(0, 60)}`,
      `ending ${/\.[a-z0-9]{1,8}$/i.exec(name)?.[0].toLowerCase() ?? ''}`,
      `size ${type.slice(0, 60)} ${Math.floor(Math.log2(size + 1) / 2)}`,
    ]),
  ];
}

const ELEMENTS =
  /<(?:a|b|button|center|font|form|h1|iframe|img|input|li|map|marquee|p|script|style|svg|table|title)\b/gi;
const HIDING =
  /display:\s?none|visibility:\s?hidden|font-size:\s?[01](?:px|pt|;|")|opacity:\s?0[;"]|max-height:\s?0|color:\s?#?(?:fff|ffffff|white)\b/gi;

/** Extracts words from the structure of the HTML, which bulk mailers seldom change. */
export function htmlWords(html: string, text: string): string[] {
  if (html === '') return [`plain ${Math.floor(Math.log2(text.length + 1))}`];
  const seen = html.slice(0, MAX_HTML);
  const elements = Map.groupBy(seen.match(ELEMENTS) ?? [], (one) => one.slice(1).toLowerCase());
  return [
    `html ${Math.floor(Math.log2(seen.length))}`,
    // Much markup for little text, as in image mail.
    `shown ${Math.round(10 * Math.min(1, text.length / seen.length))}`,
    ...[...elements].flatMap(([name, all]) => countWord(`element ${name}`, all)),
    ...(seen.match(HIDING) ?? []).slice(0, MAX_PARTS).map((one) => `hides ${one.toLowerCase().replace(/\s/g, '')}`),
    ...countWord('comments', seen.match(/<!--/g)),
    ...countWord('entities', seen.match(/&#/g)),
    ...countWord('inline pictures', seen.match(/["'(]\s?(?:cid|data):/gi)),
    ...countWord('pictures elsewhere', seen.match(/src=["']?https?:/gi)),
  ];
}
