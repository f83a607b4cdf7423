import type { Glyphs } from './seen-glyphs.ts';

/** A run of text as pdf.js puts it together, and where it stands on the page. */
export interface Run {
  str: string;
  hasEOL: boolean;
  height: number;
  /** The fifth and sixth number: from the left, and from below. */
  transform: readonly unknown[];
}

/** Left, bottom, right and top of a page. */
export type Box = readonly number[];

/** How far the letters of a run are looked for behind those of the one before: what is drawn outside of the page has no run. */
const MOST_SKIPPED = 10_000;
/** Points: smaller letters nobody reads. */
const SMALLEST = 1;

/** The text of the runs of a page as it is seen, and apart from it what nobody sees. */
export function seenText(runs: readonly Run[], glyphs: Glyphs, box: Box): { seen: string; hidden: string } {
  let [seen, hidden] = ['', ''];
  let at = 0;
  for (const run of runs) {
    const letters = run.str.replace(/\s+/g, '');
    const found = letters === '' ? -1 : glyphs.text.slice(at, at + MOST_SKIPPED + letters.length).indexOf(letters);
    const unseen = found < 0 ? [] : glyphs.hidden.slice(at + found, at + found + letters.length);
    if (found >= 0) at += found + letters.length;
    const parted = part(run.str, isOutOfSight(run, box) ? letters.split('').map(() => true) : unseen);
    const end = run.hasEOL ? '\n' : '';
    seen += parted.seen + end;
    hidden += parted.hidden === '' ? '' : `${parted.hidden}${end || ' '}`;
  }
  return { seen, hidden };
}

function isOutOfSight({ height, transform }: Run, [left = 0, bottom = 0, right = 0, top = 0]: Box): boolean {
  const [x, y] = [Number(transform[4]), Number(transform[5])];
  return (height > 0 && height < SMALLEST) || x > right || x < left - 500 || y > top || y < bottom;
}

/** `unseen` is of the letters in it that are no blanks, in order. */
function part(text: string, unseen: readonly boolean[]): { seen: string; hidden: string } {
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
