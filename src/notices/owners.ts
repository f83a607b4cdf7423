import type { OwnerNoticeKind, SystemNotice } from '../../mail/delivery/notice.ts';
import { parseAddress, addressKey, type Address } from '../../mail/message/address.ts';
import { lookup } from '../../mail/store/engine/types.ts';
import { type NoticeContext, composeNotice } from './compose.ts';
import { secretHash } from '../core/token.ts';

/** Owners that are notified. */
const MAX_OWNERS = 100;

export interface NotifiedOwner {
  user: number;
  email: string;
}

/**
 * Lists the owners of an organization with a verified address: an unverified one may be a stranger's, mistyped or named by an
 * agent. `daily` leaves out owners who turned the daily digest off.
 */
export const notifiedOwners = lookup(
  'notified-owners',
  (rx, { organization, daily }: { organization: number; daily: boolean }): Promise<NotifiedOwner[]> =>
    rx.all<NotifiedOwner & Record<string, number | string>>(
      `SELECT u.id AS user, u.email FROM member m JOIN user u ON u.id = m.user_id
       WHERE m.organization_id = ?1 AND m.role = 'owner' AND u.address_verified_at IS NOT NULL
         AND (?2 = 0 OR m.digest_disabled_at IS NULL) ORDER BY u.id LIMIT ?3`,
      organization,
      Number(daily),
      MAX_OWNERS,
    ),
);

/** Text of a notice, by lines, where all recipients get the same. */
export interface OwnerNoticeText {
  subject: string;
  text: readonly string[];
}

/** Composes the same notice for each owner of an organization with a verified address. */
export async function composeForOwners<Kind extends OwnerNoticeKind>(
  context: NoticeContext,
  { kind, organization }: { kind: Kind; organization: number },
  { subject, text }: OwnerNoticeText,
): Promise<SystemNotice<Kind>[]> {
  const owners = await context.store.read(notifiedOwners, { organization, daily: false });
  const notices = owners.flatMap(({ email }) => {
    const to = parseAddress(email);
    return to === undefined ? [] : [composeNotice(context, { kind, to, subject, text: text.join('\r\n') })];
  });
  return Promise.all(notices);
}

const MAX_NAME = 60;
/** Characters of a name that are read. */
const MAX_READ = 500;

/** Strips everything from a name that a mail program could turn into a link. */
export function plainName(name: string): string {
  const words = name
    .slice(0, MAX_READ)
    .replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069]+/gu, ' ')
    .replace(/\S*:\/\/\S*|\S*www\.\S*|\S+\.\p{L}{2,}\S*|\S*@\S*|[<>"]/giu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return words.slice(0, MAX_NAME).toWellFormed() || 'without a name';
}

interface OwnerAddress {
  address: Address;
  /** As compared: lower case, A-labels, no dot at the end. */
  key: string;
  /** The key without its +tag. */
  base: string;
}

/** Parses a person's address strictly; undefined if it is none. */
export function ownerAddress(text: string): OwnerAddress | undefined {
  const address = parseAddress(text.trim().replace(/\.$/, ''));
  if (address === undefined || address.domain.startsWith('[')) return undefined;
  const key = addressKey(address);
  return { address, key, base: key.replace(/\+[^@]*@/, '@') };
}

/** Hashes an address for counters, which must not store people's addresses. */
export function hashedAddress(key: string): string {
  return secretHash(key).toString('hex').slice(0, 32);
}
