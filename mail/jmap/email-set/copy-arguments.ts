import type { copyEmail } from '../../store/message/email-commands.ts';
import { resolveCreationId } from '../core/access.ts';
import { idOrCreation, utcDate, wrong } from '../core/arguments.ts';
import { jmapRow } from '../core/ids.ts';
import type { MethodCall } from '../core/method.ts';
import { SetRefusal } from '../standard/standard-set.ts';
import { readKeywords, readMailboxIds } from './mailbox-ids.ts';

/** Accounts of an Email/copy, and the states that they must have. */
export interface EmailCopying {
  from: number;
  to: number;
  ifFromInState: string | null;
  ifInState: string | null;
}

export type CopyGiven = Readonly<Record<string, unknown>>;

const KNOWN = new Set(['id', 'mailboxIds', 'keywords', 'receivedAt']);

/** Reads one object of Email/copy; keywords and receivedAt default to the original's. */
export function readEmailCopy(
  call: MethodCall,
  { from, to }: Pick<EmailCopying, 'from' | 'to'>,
  given: CopyGiven,
): Pick<Parameters<typeof copyEmail.run>[1], 'email' | 'mailboxes' | 'flags' | 'receivedAt'> {
  const odd = Object.keys(given).find((name) => !KNOWN.has(name));
  if (odd !== undefined) throw wrong(odd, 'cannot be set by Email/copy');
  const original = resolveCreationId(call, idOrCreation(given['id'], 'id'));
  const email = original === undefined ? undefined : jmapRow('email', from, original);
  const { keywords = null, receivedAt = null } = given;
  const mailboxes = readMailboxIds({ call, account: to }, given['mailboxIds'], 'mailboxIds');
  const flags = keywords === null ? null : readKeywords(keywords, 'keywords');
  const received = receivedAt === null ? null : utcDate(receivedAt, 'receivedAt');
  if (email === undefined) throw new SetRefusal('notFound', 'The source account has no such email.');
  return { email, mailboxes, flags, receivedAt: received };
}
