import type { Glyphs } from './visible-glyphs.ts';

/** Text run of pdf.js with its position on the page. */
export interface TextRun {
  str: string;
  hasEOL: boolean;
  height: number;
  /** The fifth and sixth number are the offsets from the left and from the bottom. */
  transform: readonly unknown[];
}

/** Left, bottom, right and top of a page, points. */
export type PageBox = readonly number[];

/** Letters skipped when searching the next run: text drawn outside the page has no run. */
const MAX_SKIPPED = 10_000;
/** Points; smaller letters are invisible. */
const MIN_POINTS = 1;

/** Splits the text of a page into visible and hidden text. */
export function visiblePageText(
  runs: readonly TextRun[],
  glyphs: Glyphs,
  box: PageBox,
): { seen: string; hidden: string } {
  let [seen, hidden] = ['', ''];
  let at = 0;
  for (const run of runs) {
    const letters = run.str.replace(/\s+/g, '');
    const found = letters === '' ? -1 : glyphs.text.slice(at, at + MAX_SKIPPED + letters.length).indexOf(letters);
    const unseen = found < 0 ? [] : glyphs.hidden.slice(at + found, at + found + letters.length);
    if (found >= 0) at += found + letters.length;
    const parted = splitRun(run.str, isInvisible(run, box) ? letters.split('').map(() => true) : unseen);
    const end = run.hasEOL ? '\n' : '';
    seen += parted.seen + end;
    hidden += parted.hidden === '' ? '' : `${parted.hidden}${end || ' '}`;
  }
  return { seen, hidden };
}

function isInvisible({ height, transform }: TextRun, [left = 0, bottom = 0, right = 0, top = 0]: PageBox): boolean {
  const [x, y] = [Number(transform[4]), Number(transform[5])];
  return (height > 0 && height < MIN_POINTS) || x > right || x < left - 500 || y > top || y < bottom;
}

/** Splits one run. `unseen` has one entry for each letter that is no blank. */
function splitRun(text: string, unseen: readonly boolean[]): { seen: string; hidden: string } {
  if (!unseen.includes(true)) return { seen: text, hidden: '' };
  let [seen, hidden] = ['', ''];
  let letter = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (/\s/.test(sign)) [seen, hidden] = [seen + sign, hidden + sign];
    else if (unseen[letter++] === true) hidden += sign;
    else seen += sign;
  }
  return { seen: seen.trim() === '' ? '' : seen, hidden };
}
