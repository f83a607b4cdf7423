import { refuse } from '../core/refusal.ts';
import type { LoadedMessage } from './summary.ts';
import type { MessageText } from '../core/text-tasks.ts';

/**
 * Reasons for hiding the content of a message from programs. `content_quarantined`: it has far more hidden text than
 * visible text, or the filter rejected it and only stored it for review (a person can release it), or it takes too long to
 * parse. `secret_link`: it contains a link of this box that signs in or decides for whoever opens it; it cannot be
 * released. People read both in their mail programs.
 */
export const QUARANTINE_REASONS = ['content_quarantined', 'secret_link'] as const;
export type QuarantineReason = (typeof QUARANTINE_REASONS)[number];

export function quarantineReason(
  { row, released, filterResult }: Pick<LoadedMessage, 'row' | 'released' | 'filterResult'>,
  { divergent, unread, secretLink }: Pick<MessageText, 'divergent' | 'unread' | 'secretLink'>,
): QuarantineReason | undefined {
  if (row.redactedFrom !== null || secretLink === true) return 'secret_link';
  const isHeld = !released && (divergent || filterResult?.trust.verdict === 'quarantined');
  return isHeld || unread ? 'content_quarantined' : undefined;
}

export function isQuarantined(...about: Parameters<typeof quarantineReason>): boolean {
  return quarantineReason(...about) !== undefined;
}

const WHY: Readonly<Record<QuarantineReason, string>> = {
  content_quarantined:
    'It is quarantined: a person can read it in a mail program. Call request_release to ask for its release.',
  secret_link:
    'It contains a link that signs in or decides as the person who opens it. Programs never see it and it cannot be released: ask the person to open it in their own mail program.',
};

/** Throws the refusal with the reason and the remedy. */
export function refuseQuarantined(why: QuarantineReason): never {
  return refuse(why, WHY[why]);
}
