import { textKey } from '../message/address.ts';
import { namedAddresses } from '../message/named-address.ts';
import { readEnvelope } from '../message/stored-envelope.ts';
import type { Trust } from '../policy/trust.ts';
import type { Read, Row } from './engine/types.ts';

/** Who wrote a message of an account, as far as this box knows. */
export interface Authored {
  email: number;
  thread: number;
  /** The one address in From as it is compared; '' when there is none, or several. */
  author: string;
  /** The author's domain vouches for it by DMARC, or a mailbox of this box sent it. */
  authentic: boolean;
  /** A mailbox of this tenant sent it; null: none of this box did. */
  writtenBy: number | null;
  verdict: Trust['verdict'];
  /** Put here by its owner: a copy of what was sent, a draft, an import. */
  ownCopy: boolean;
  /** Everybody in To and Cc, as compared. */
  others: readonly string[];
}

interface AuthoredRow extends Row {
  id: number;
  thread_id: number;
  delivered: number;
  envelope: string;
  trust: string | null;
  tenant: number | null;
}

/** Of these messages of an account; at most 500. */
export async function authorsOf(rx: Read, account: number, emails: readonly number[]): Promise<Authored[]> {
  const rows = await rx.all<AuthoredRow>(
    `SELECT e.id, e.thread_id, substr(e.trace, 1, 12) = 'Return-Path:' AS delivered, m.envelope, j.trust, w.tenant FROM json_each(?) g
     CROSS JOIN email e ON e.id = g.value JOIN email_meta m ON m.email_id = e.id
     LEFT JOIN judged j ON j.email_id = e.id LEFT JOIN written_here w ON w.email_id = e.id
     WHERE +e.account_id = ?`,
    JSON.stringify(emails),
    account,
  );
  return rows.map(authored);
}

function authored({ id, thread_id: thread, delivered, envelope, trust, tenant }: AuthoredRow): Authored {
  const { from, to, cc } = readEnvelope(envelope);
  const authors = keysOf(from);
  const judged = trust === null ? undefined : (JSON.parse(trust) as Trust);
  const proved = judged?.alignedFrom === true && judged.auth.dmarc === 'pass';
  return {
    email: id,
    thread,
    author: authors.length === 1 ? (authors[0] ?? '') : '',
    authentic: proved || tenant !== null,
    writtenBy: tenant,
    verdict: judged?.verdict ?? 'clear',
    // A copy that a client makes of delivered mail has its trace, and nothing that was found out about it.
    ownCopy: judged === undefined && tenant === null && delivered === 0,
    others: [...keysOf(to), ...keysOf(cc)],
  };
}

/** Addresses as they are compared; what is none is left out. */
function keysOf(list: Parameters<typeof namedAddresses>[0] | undefined): string[] {
  return namedAddresses(list ?? []).map(({ email }) => textKey(email));
}

/** Messages of a thread that are looked at, newest first. */
const MOST = 200;

/** Who wrote in the thread of a message of an account; none when the account has no such message. */
export async function threadAuthors(rx: Read, account: number, email: number): Promise<Authored[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT t.id FROM email e JOIN email t ON t.thread_id = e.thread_id
     WHERE e.id = ?1 AND e.account_id = ?2 AND +t.account_id = ?2 ORDER BY t.id = ?1 DESC, t.received_at DESC LIMIT ?3`,
    email,
    account,
    MOST,
  );
  return authorsOf(
    rx,
    account,
    rows.map(({ id }) => id),
  );
}
