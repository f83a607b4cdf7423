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
  /** It answers something, and so may quote it; or a whole message is attached to it. */
  quotes: 'earlier' | 'attached' | null;
}

interface AuthoredRow extends Row {
  id: number;
  thread_id: number;
  delivered: number;
  envelope: string;
  trust: string | null;
  tenant: number | null;
  answers: number;
  attached: number;
}

/** Of these messages of an account; at most 500. */
export async function authorsOf(rx: Read, account: number, emails: readonly number[]): Promise<Authored[]> {
  const rows = await rx.all<AuthoredRow>(
    `SELECT e.id, e.thread_id, substr(e.trace, 1, 12) = 'Return-Path:' AS delivered, m.envelope, j.trust, w.tenant,
       length(m.refs) > 8 AS answers, instr(lower(m.bodystructure), '"message" "rfc822"') > 0 AS attached FROM json_each(?) g
     CROSS JOIN email e ON e.id = g.value JOIN email_meta m ON m.email_id = e.id
     LEFT JOIN judged j ON j.email_id = e.id LEFT JOIN written_here w ON w.email_id = e.id
     WHERE +e.account_id = ?`,
    JSON.stringify(emails),
    account,
  );
  return rows.map(authored);
}

function authored(row: AuthoredRow): Authored {
  const { id, thread_id: thread, delivered, envelope, trust, tenant } = row;
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
    quotes: row.attached === 1 ? 'attached' : row.answers === 1 ? 'earlier' : null,
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

/** Messages of a thread before one that answers, newest first: what it quotes is hardly older. */
const MOST_EARLIER = 10;

/** What stands in the threads of messages of an account before each of them. */
export async function earlierThan(
  rx: Read,
  account: number,
  emails: readonly number[],
): Promise<{ email: number; earlier: number }[]> {
  return rx.all<{ email: number; earlier: number }>(
    `SELECT e.id AS email, t.id AS earlier FROM json_each(?1) g CROSS JOIN email e ON e.id = g.value
       CROSS JOIN email t ON t.id IN (SELECT p.id FROM email p WHERE p.thread_id = e.thread_id
         AND p.received_at <= e.received_at AND p.id <> e.id AND +p.account_id = ?2 ORDER BY p.received_at DESC LIMIT ?3)
     WHERE +e.account_id = ?2`,
    JSON.stringify(emails),
    account,
    MOST_EARLIER,
  );
}
