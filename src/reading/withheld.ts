import { refuse } from '../operations/refusal.ts';
import type { MessageText } from './read-texts.ts';
import type { Known } from './summary.ts';

/**
 * Why a program is not shown what a message says. `content_quarantined`: it holds far more than a person sees of it, or was
 * refused and only kept to be looked at, and a person can release it; or it takes too long to be read. `secret_link`: it carries a link of this box that lets in
 * or decides for whoever opens it; nobody can release it. People read both in their mail programs.
 */
export const WITHHELD = ['content_quarantined', 'secret_link'] as const;
export type Withheld = (typeof WITHHELD)[number];

export function whyWithheld(
  { row, released, judged }: Pick<Known, 'row' | 'released' | 'judged'>,
  { divergent, unread }: Pick<MessageText, 'divergent' | 'unread'>,
): Withheld | undefined {
  if (row.veiledFrom !== null) return 'secret_link';
  const isHeld = !released && (divergent || judged?.trust.verdict === 'quarantined');
  return isHeld || unread ? 'content_quarantined' : undefined;
}

export function isWithheld(...about: Parameters<typeof whyWithheld>): boolean {
  return whyWithheld(...about) !== undefined;
}

const WHY: Readonly<Record<Withheld, string>> = {
  content_quarantined: 'It is withheld: people open it in a mail program, request_release asks them to show it.',
  secret_link:
    'It carries a link that signs in or decides as the person who opens it. No program is shown it, and nobody can release it: tell the person to open it in their own mail program.',
};

/** Says why, and what to do instead. */
export function refuseWithheld(why: Withheld): never {
  return refuse(why, WHY[why]);
}
