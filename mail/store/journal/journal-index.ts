import { hash } from 'node:crypto';
import { textKey } from '../../message/address.ts';
import { command, lookup, type Write } from '../engine/types.ts';
import { countJournalLines } from './journal-count.ts';

/** Lines of one slice. */
const SLICE = 200;

/**
 * Indexes and counts the next slice of journal lines. Returns whether there are more. Not part of the commit that
 * writes a line, since random index pages would cost each message more than its lines; a slice shares them.
 */
export const indexJournal = command('index-journal', async (tx): Promise<boolean> => {
  const lines = await tx.all<{
    id: number;
    at: number;
    trace: string;
    tenant: number | null;
    account_id: number | null;
    detail: string;
    own: string | null;
  }>(
    `SELECT j.id, j.at, j.trace, j.tenant, j.account_id, j.detail, a.address AS own
     FROM journal j LEFT JOIN account a ON a.id = j.account_id
     WHERE j.id > coalesce((SELECT line FROM journal_indexed), 0) ORDER BY j.id LIMIT ?`,
    SLICE,
  );
  const last = lines.at(-1);
  if (last === undefined) return false;
  const rows = lines.flatMap(({ at, trace, tenant, account_id: account, detail, own }) =>
    tenant === null ? [] : keysOf(JSON.parse(detail) as Facts, own).map((key) => [tenant, key, at, account, trace]),
  );
  await addKeys(tx, rows);
  await countJournalLines(tx, (lines[0] ?? last).id - 1, last.id);
  await tx.run(
    'INSERT INTO journal_indexed (only, line) VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET line = excluded.line',
    last.id,
  );
  return lines.length === SLICE;
});

async function addKeys(tx: Write, rows: readonly (readonly unknown[])[]): Promise<void> {
  await tx.run(
    `INSERT INTO journal_key (tenant, key, at, account_id, trace)
     SELECT CAST(value ->> 0 AS INTEGER), CAST(value ->> 1 AS INTEGER), CAST(value ->> 2 AS INTEGER),
       CAST(value ->> 3 AS INTEGER), value ->> 4 FROM json_each(?, '$') ORDER BY 1, 2`,
    JSON.stringify(rows),
  );
}

type Facts = Readonly<Record<string, unknown>>;

/**
 * Keys of a line. A line with a sender starts or relays a message; `own` is the mailbox's address, even if an alias
 * matched.
 */
function keysOf({ from, to, id, email }: Facts, own: string | null): number[] {
  if (typeof from !== 'string') return [];
  const named: unknown[] = Array.isArray(to) ? to : [to];
  const addresses = [from, ...named, own].filter((one): one is string => typeof one === 'string' && one !== '');
  return [
    ...new Set([
      ...(typeof id === 'string' ? [messageIdKey(id)] : []),
      ...addresses.map(addressFindKey),
      ...(typeof email === 'number' ? [emailFindKey(email)] : []),
    ]),
  ];
}

/** Hash of a key; a collision costs one useless lookup. */
function findKey(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6);
}

/** Key of a Message-ID for {@link findTraces}, with or without angle brackets. */
export function messageIdKey(messageId: string): number {
  return findKey(`<${messageId.trim().replace(/^<|>$/g, '')}>`);
}

/** Key of a sender or recipient address for {@link findTraces}. */
export function addressFindKey(address: string): number {
  return findKey(textKey(address));
}

/** Key of an account's message for {@link findTraces}. */
export function emailFindKey(email: number): number {
  return findKey(`email ${email}`);
}

export interface FoundTrace {
  trace: string;
  /** Time at which the message was last received or relayed, ms UTC. */
  at: number;
}

/** The newest messages with a key since `since` (ms UTC); reads `limit` index rows. */
export const findTraces = lookup(
  'find-traces',
  (
    rx,
    input: { tenant: number; accounts: readonly number[] | null; key: number; since: number; limit: number },
  ): Promise<FoundTrace[]> =>
    rx.all<{ trace: string; at: number }>(
      `SELECT trace, max(at) AS at FROM (
         SELECT trace, at FROM journal_key WHERE tenant = ?1 AND key = ?2 AND at >= ?3
           AND (?4 IS NULL OR account_id IN (SELECT value FROM json_each(?4))) ORDER BY at DESC LIMIT ?5
       ) GROUP BY trace ORDER BY max(at) DESC, trace`,
      input.tenant,
      input.key,
      input.since,
      input.accounts === null ? null : JSON.stringify(input.accounts),
      input.limit,
    ),
);
