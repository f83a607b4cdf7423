import type { MessageText } from './message-text.ts';
import type { Known } from './summary.ts';

/**
 * Whether a program is not shown what a message says: it holds far more than a person sees of it, or was refused and only
 * kept to be looked at. People read it in their mail programs, and can release it.
 */
export function isWithheld({ released, judged }: Known, { divergent }: Pick<MessageText, 'divergent'>): boolean {
  return !released && (divergent || judged?.trust.verdict === 'quarantined');
}
