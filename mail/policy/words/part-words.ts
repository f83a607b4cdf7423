import type { Sample } from '../sample.ts';
import { counted } from './text-words.ts';

const MOST_PARTS = 20;
const MOST_HTML = 128 * 1024;

/** What is attached: types, endings of names, sizes. */
export function partWords(parts: Sample['parts']): string[] {
  const some = parts.slice(0, MOST_PARTS);
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

/** How the HTML is made, which programs that send in bulk seldom change. */
export function htmlWords(html: string, text: string): string[] {
  if (html === '') return [`plain ${Math.floor(Math.log2(text.length + 1))}`];
  const seen = html.slice(0, MOST_HTML);
  const elements = Map.groupBy(seen.match(ELEMENTS) ?? [], (one) => one.slice(1).toLowerCase());
  return [
    `html ${Math.floor(Math.log2(seen.length))}`,
    // Much markup for few words, as where pictures say it all.
    `shown ${Math.round(10 * Math.min(1, text.length / seen.length))}`,
    ...[...elements].flatMap(([name, all]) => counted(`element ${name}`, all)),
    ...(seen.match(HIDING) ?? []).slice(0, MOST_PARTS).map((one) => `hides ${one.toLowerCase().replace(/\s/g, '')}`),
    ...counted('comments', seen.match(/<!--/g)),
    ...counted('entities', seen.match(/&#/g)),
    ...counted('inline pictures', seen.match(/["'(]\s?(?:cid|data):/gi)),
    ...counted('pictures elsewhere', seen.match(/src=["']?https?:/gi)),
  ];
}
