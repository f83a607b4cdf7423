import { decodeEntities } from '../../message/html-entities.ts';
import type { Finding } from '../finding.ts';
import { walkHtml } from '../html-walk.ts';
import type { Invisibility } from '../open-elements.ts';
import { countLetters } from '../count-letters.ts';
import type { Sample } from '../sample.ts';

/** Letters. Newsletters hide a line or two of preview text. */
const MIN_HIDDEN = 400;
const MANY_HIDDEN = 2000;

/** Finds text that styles hide from readers, in amounts that no preview needs: it is meant for filters. */
export function checkHiddenText({ html }: Sample): readonly Finding[] {
  const { hidden, shown } = countVisibleText(html);
  const share = hidden / Math.max(1, hidden + shown);
  if (hidden < MIN_HIDDEN || share < 0.3) return [];
  const score = hidden >= MANY_HIDDEN && share >= 0.5 ? 2.5 : 1.5;
  return [{ rule: 'hidden-text', score, why: `${Math.round(share * 100)} % of its text is hidden from the reader` }];
}

/** Counts hidden and visible letters. */
export function countVisibleText(html: string): { hidden: number; shown: number } {
  const count = { hidden: 0, shown: 0 };
  for (const piece of walkHtml(html)) if (piece.kind === 'text') addText(count, piece.unseen, piece.text);
  return count;
}

function addText(count: { hidden: number; shown: number }, unseen: Invisibility, text: string): void {
  if (unseen === 'unread') return;
  count[unseen ?? 'shown'] += countLetters(decodeEntities(text));
}
