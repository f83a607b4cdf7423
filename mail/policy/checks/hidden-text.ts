import { entities } from '../../message/html-text.ts';
import type { Finding } from '../finding.ts';
import { walkHtml } from '../html-walk.ts';
import type { Unseen } from '../open-elements.ts';
import { countLetters } from '../letters.ts';
import type { Sample } from '../sample.ts';

/** Letters. Newsletters hide a line or two that lists of messages show as preview. */
const SOME = 400;
const MUCH = 2000;

/** Text for filters and not for people: hidden by styles, in amounts that no preview needs. */
export function hiddenText({ html }: Sample): readonly Finding[] {
  if (html === '') return [];
  const { hidden, shown } = amounts(html);
  const share = hidden / Math.max(1, hidden + shown);
  if (hidden < SOME || share < 0.3) return [];
  const score = hidden >= MUCH && share >= 0.5 ? 2.5 : 1.5;
  return [{ rule: 'hidden-text', score, why: `${Math.round(share * 100)} % of its text is hidden from who reads it` }];
}

/** Letters that a reader does not see, and that one sees, as far as the styles of the elements themselves say. */
export function amounts(html: string): { hidden: number; shown: number } {
  const count = { hidden: 0, shown: 0 };
  for (const piece of walkHtml(html)) if (piece.kind === 'text') tally(count, piece.unseen, piece.text);
  return count;
}

function tally(count: { hidden: number; shown: number }, unseen: Unseen, text: string): void {
  if (unseen === 'unread') return;
  count[unseen ?? 'shown'] += countLetters(text.includes('&') ? entities(text) : text);
}
