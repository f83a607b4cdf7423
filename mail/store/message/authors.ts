import { OF_ACCOUNT_2 } from '../search/account-span.ts';
import { textKey } from '../../message/address.ts';
import { namedAddresses } from '../../message/named-address.ts';
import { readEnvelope } from '../../message/stored-envelope.ts';
import type { Trust } from '../../policy/trust.ts';
import type { Read, Row } from '../engine/types.ts';
import { IN_THREAD } from './in-thread.ts';

/** Authorship of a message of an account. */
export interface MessageAuthorship {
  email: number;
  thread: number;
  /** Lookup key of the only From address; '' for none or several. */
  author: string;
  /** DMARC passed, or a mailbox of this server sent it. */
  authentic: boolean;
  /** Tenant whose mailbox sent it; null: not local. */
  writtenBy: number | null;
  verdict: Trust['verdict'];
  /** Stored by its owner: sent copy or draft. Imported mail is not: anybody may be named in its From. */
  ownCopy: boolean;
  /** Lookup keys of To and Cc. */
  others: readonly string[];
  /** It is a reply, so may quote; or it has an attached message. */
  quotes: 'earlier' | 'attached' | null;
}

interface AuthoredRow extends Row {
  id: number;
  thread_id: number;
  delivered: number;
  envelope: string;
  trust: string | null;
  tenant: number | null;
  imported: number;
  answers: number;
  attached: number;
}

/** Authorship of at most 500 messages of an account. */
export async function authorsOf(rx: Read, account: number, emails: readonly number[]): Promise<MessageAuthorship[]> {
  const rows = await rx.all<AuthoredRow>(
    `SELECT e.id, e.thread_id, substr(e.trace, 1, 12) = 'Return-Path:' AS delivered, m.envelope, j.trust, w.tenant,
       i.email_id IS NOT NULL AS imported,
       length(m.refs) > 8 AS answers, instr(lower(m.bodystructure), '"message" "rfc822"') > 0 AS attached FROM json_each(?1) g
     CROSS JOIN email e ON e.id = g.value JOIN email_meta m ON m.email_id = e.id
     LEFT JOIN filter_result j ON j.email_id = e.id LEFT JOIN local_origin w ON w.email_id = e.id
     LEFT JOIN imported_email i ON i.email_id = e.id
     WHERE ${OF_ACCOUNT_2}`,
    JSON.stringify(emails),
    account,
  );
  return rows.map(authorshipOf);
}

function authorshipOf(row: AuthoredRow): MessageAuthorship {
  const { id, thread_id: thread, delivered, envelope, trust: trustJson, tenant } = row;
  const { from, to, cc } = readEnvelope(envelope);
  const authors = keysOf(from);
  const trust = trustJson === null ? undefined : (JSON.parse(trustJson) as Trust);
  const proved = trust?.alignedFrom === true && trust.auth.dmarc === 'pass';
  return {
    email: id,
    thread,
    author: authors.length === 1 ? (authors[0] ?? '') : '',
    authentic: proved || tenant !== null,
    writtenBy: tenant,
    verdict: trust?.verdict ?? 'clear',
    // A client's copy of delivered mail has its trace header, but no filter result.
    ownCopy: trust === undefined && tenant === null && delivered === 0 && row.imported === 0,
    others: [...keysOf(to), ...keysOf(cc)],
    quotes: row.attached === 1 ? 'attached' : row.answers === 1 ? 'earlier' : null,
  };
}

/** Lookup keys of the valid addresses. */
function keysOf(list: Parameters<typeof namedAddresses>[0] | undefined): string[] {
  return namedAddresses(list ?? []).map(({ email }) => textKey(email));
}

/** Maximum messages read of a thread, newest first. */
const MAX_THREAD_MESSAGES = 200;

/** Authors in the thread of a message; empty if the account has no such message. */
export async function threadAuthors(rx: Read, account: number, email: number): Promise<MessageAuthorship[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT e.id FROM (SELECT thread_id AS value FROM email WHERE id = ?1 AND account_id = ?2) t
       CROSS JOIN email e ON ${IN_THREAD}
     WHERE ${OF_ACCOUNT_2} ORDER BY e.id = ?1 DESC, e.received_at DESC LIMIT ?3`,
    email,
    account,
    MAX_THREAD_MESSAGES,
  );
  return authorsOf(
    rx,
    account,
    rows.map(({ id }) => id),
  );
}

/** Maximum earlier messages of a reply, newest first: quotes are rarely older. */
const MAX_EARLIER = 10;

/** Earlier messages in the thread of each message of an account. */
export async function earlierThan(
  rx: Read,
  account: number,
  emails: readonly number[],
): Promise<{ email: number; earlier: number }[]> {
  // A list for each message: PostgreSQL would join the threads by reading all messages.
  const rows = await rx.all<{ email: number; earlier: string }>(
    `SELECT e.id AS email, (SELECT json_group_array(one.id) FROM (SELECT p.id FROM email p
         WHERE (p.id = e.thread_id AND p.thread_id = p.id OR p.thread_id = e.thread_id AND p.thread_id <> p.id)
           AND p.received_at <= e.received_at AND p.id <> e.id AND +p.account_id = ?2
         ORDER BY p.received_at DESC LIMIT ?3) one) AS earlier
     FROM json_each(?1) g CROSS JOIN email e ON e.id = g.value WHERE ${OF_ACCOUNT_2}`,
    JSON.stringify(emails),
    account,
    MAX_EARLIER,
  );
  return rows.flatMap(({ email, earlier }) =>
    (JSON.parse(earlier) as number[]).map((one) => ({ email, earlier: one })),
  );
}
