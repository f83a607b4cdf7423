import type { Outgoing } from '../../mail/delivery/submit.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { query } from '../../mail/store/engine/types.ts';
import { type Post, prepareLetter } from './letter.ts';

/** Whoever turns nothing off is told; no organization has so many. */
const MOST_OWNERS = 100;

/** Whom a letter is for. */
export interface LetterOwner {
  user: number;
  email: string;
}

/**
 * Owners of an organization who are told what goes on in it: those who have shown that they read the mail of their
 * address. One that was mistyped, or that an agent only named, may be a stranger's. `daily`: without those who want no
 * daily letter.
 */
export const letterOwners = query(
  'letter-owners',
  (rx, { organization, daily }: { organization: number; daily: boolean }): Promise<LetterOwner[]> =>
    rx.all<LetterOwner & Record<string, number | string>>(
      `SELECT u.id AS user, u.email FROM member m JOIN user u ON u.id = m.user_id
       WHERE m.organization_id = ?1 AND m.role = 'owner' AND u.address_proven_at IS NOT NULL
         AND (?2 = 0 OR m.daily_letter_off_at IS NULL) ORDER BY u.id LIMIT ?3`,
      organization,
      Number(daily),
      MOST_OWNERS,
    ),
);

/** The same letter to each owner of an organization who has proved the address. */
export async function toOwners(
  post: Post,
  organization: number,
  { subject, text }: { subject: string; text: readonly string[] },
): Promise<Outgoing[]> {
  const owners = await post.store.read(letterOwners, { organization, daily: false });
  const letters = owners.flatMap(({ email }) => {
    const to = parseAddress(email);
    return to === undefined ? [] : [prepareLetter(post, { to, subject, text: text.join('\r\n') })];
  });
  return Promise.all(letters);
}
