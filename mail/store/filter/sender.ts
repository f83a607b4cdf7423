import { command, lookup, query, type Read, type Stamp, type Write } from '../engine/types.ts';

/** Reputation under one sender key, decayed to now. See policy/sender-keys for the keys. */
export interface SenderRecord {
  key: string;
  /** Messages delivered to the inbox, classified as junk, and kept by the person; half-life 90 days. */
  seen: number;
  junked: number;
  kept: number;
  /** Time of the first message, ms UTC. */
  since: number;
}

/** Reputation of a sender before delivery. */
export interface Reputation {
  /** Records of this account. */
  own: SenderRecord[];
  /** Votes of all accounts, one each. */
  box: SenderRecord[];
  /** The account has sent mail to the author. */
  hasWritten: boolean;
}

const DAY = 24 * 3_600_000;
/** Account id of the records over all accounts. */
const BOX = 0;
const HALF_LIFE = 90 * DAY;
/** Days after which an inactive sender is purged. */
const RETENTION_DAYS = 365;
/** Maximum rows of one account; the longest inactive are purged first. */
export const MAX_SENDERS = 20_000;
const SLICE = 200;

/** Reputation of the sender keys of a message; `author` is its From address, '' for none. */
export const reputationOf = query(
  'reputation-of',
  async (rx, input: { account: number; keys: readonly string[]; author: string; now: number }): Promise<Reputation> => {
    const rows = await recordsOf(rx, input);
    const wrote = await rx.get(
      'SELECT 1 AS yes FROM correspondent WHERE account_id = ? AND key = ?',
      input.account,
      input.author,
    );
    return {
      own: rows.filter(({ account }) => account !== BOX).map(toRecord),
      box: rows.filter(({ account }) => account === BOX).map(toRecord),
      hasWritten: wrote !== undefined,
    };
  },
);

interface RecordRow extends SenderRecord, Record<string, string | number> {
  account: number;
}

function recordsOf(
  rx: Read,
  { account, keys, now }: { account: number; keys: readonly string[]; now: number },
): Promise<RecordRow[]> {
  return rx.all<RecordRow>(
    `SELECT s.account_id AS account, s.key, s.since, s.seen * pow(0.5, max(0.0, ?3 - s.at) / ?4) AS seen,
       s.junked * pow(0.5, max(0.0, ?3 - s.at) / ?4) AS junked, s.kept * pow(0.5, max(0.0, ?3 - s.at) / ?4) AS kept
     FROM json_each(?1, '$') k CROSS JOIN sender s ON s.key = k.value AND s.account_id IN (?2, 0)`,
    JSON.stringify(keys),
    account,
    now,
    HALF_LIFE,
  );
}

function toRecord({ key, seen, junked, kept, since }: RecordRow): SenderRecord {
  return { key, seen, junked, kept, since };
}

/** Weight of the filter's own verdict against a person's, to avoid feedback. */
const OWN_VERDICT_WEIGHT = 0.25;

/** Records a delivery in its commit: one statement an account. `junk`: it went to Junk. */
export async function recordSenderDelivery(
  tx: Write,
  { account, keys, junk }: { account: number; keys: readonly string[]; junk: boolean },
  stamp: Stamp,
): Promise<void> {
  if (keys.length > 0)
    await add(tx, account, keys, { seen: junk ? 0 : 1, junked: junk ? OWN_VERDICT_WEIGHT : 0, kept: 0 }, stamp);
}

/** A person's action on a delivered message. */
export type SenderVote = 'junk' | 'kept';

/**
 * Records a sample in the commit that trains it: as counts for the account, and as at most one vote of the account for
 * the server, so that no account outweighs others. Unauthenticated (`claimed`) keys learn from junk only.
 */
export async function recordSenderVote(
  tx: Write,
  { account, keys, vote: cast }: { account: number; keys: readonly string[]; vote: SenderVote },
  stamp: Stamp,
): Promise<void> {
  const junk = cast === 'junk';
  const taught = junk ? keys : keys.filter((key) => !key.startsWith('c:'));
  if (taught.length === 0) return;
  const change = junk ? { seen: -1, junked: 1, kept: -1 } : { seen: 0, junked: -1, kept: 1 };
  const rows = await recordsOf(tx, { account, keys: taught, now: stamp.now });
  const own = new Map(rows.filter((row) => row.account === account).map((row) => [row.key, row]));
  await add(tx, account, taught, change, stamp);
  for (const key of taught) {
    const { junked = 0, kept = 0 } = own.get(key) ?? {};
    const before = vote({ junked, kept });
    const after = vote({ junked: Math.max(0, junked + change.junked), kept: Math.max(0, kept + change.kept) });
    if (before !== after && !key.startsWith('c:')) await recount(tx, key, before, after, stamp);
  }
}

/** Updates the vote of an account. */
async function recount(
  tx: Write,
  key: string,
  before: SenderVote | undefined,
  after: SenderVote | undefined,
  stamp: Stamp,
): Promise<void> {
  const votes = (kind: SenderVote): number => Number(after === kind) - Number(before === kind);
  await add(tx, BOX, [key], { seen: 0, junked: votes('junk'), kept: votes('kept') }, stamp);
}

/** The vote of an account about a key: the stronger count. */
function vote({ junked, kept }: Pick<SenderRecord, 'junked' | 'kept'>): SenderVote | undefined {
  if (Math.max(junked, kept) < 0.5) return undefined;
  return junked > kept ? 'junk' : 'kept';
}

/** Adds to the decayed counts; minimum 0. */
async function add(
  tx: Write,
  account: number,
  keys: readonly string[],
  { seen, junked, kept }: Pick<SenderRecord, 'seen' | 'junked' | 'kept'>,
  { now }: Stamp,
): Promise<void> {
  await tx.send(
    `INSERT INTO sender (account_id, key, seen, junked, kept, at, since, day)
     SELECT ?1, value, max(0.0, ?3), max(0.0, ?4), max(0.0, ?5), ?6, ?6, ?7 FROM json_each(?2, '$') WHERE true
     ON CONFLICT (account_id, key) DO UPDATE SET
       seen = max(0.0, sender.seen * pow(0.5, max(0.0, ?6 - sender.at) / ?8) + ?3),
       junked = max(0.0, sender.junked * pow(0.5, max(0.0, ?6 - sender.at) / ?8) + ?4),
       kept = max(0.0, sender.kept * pow(0.5, max(0.0, ?6 - sender.at) / ?8) + ?5),
       at = max(sender.at, ?6), day = max(sender.day, ?7)`,
    account,
    JSON.stringify(keys),
    seen,
    junked,
    kept,
    now,
    Math.floor(now / DAY),
    HALF_LIFE,
  );
}

/** Purges a slice of senders that were inactive for a year. */
export const purgeSenders = command('purge-senders', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    `DELETE FROM sender WHERE (account_id, key) IN
       (SELECT account_id, key FROM sender INDEXED BY sender_day WHERE day < ? LIMIT ?)`,
    Math.floor(now / DAY) - RETENTION_DAYS,
    SLICE,
  );
  return changes === SLICE;
});

/** Accounts above the sender limit, including account 0. Reads every row's key. */
export const accountsOverSenderLimit = lookup(
  'senders-over-limit',
  async (rx, input: { most: number }): Promise<number[]> => {
    const rows = await rx.all<{ account: number }>(
      'SELECT account_id AS account FROM sender GROUP BY account_id HAVING count(*) > ? LIMIT 100',
      input.most,
    );
    return rows.map(({ account }) => account);
  },
);

/** Purges a slice of an account's senders above the limit. */
export const trimSenders = command(
  'trim-senders',
  async (tx, { account, most }: { account: number; most: number }): Promise<boolean> => {
    const row = await tx.get<{ rows: number }>('SELECT count(*) AS rows FROM sender WHERE account_id = ?', account);
    const over = Math.min(SLICE, (row?.rows ?? 0) - most);
    if (over <= 0) return false;
    await tx.run(
      `DELETE FROM sender WHERE account_id = ?1 AND key IN
         (SELECT key FROM sender WHERE account_id = ?1 ORDER BY day, kept, seen + junked LIMIT ?2)`,
      account,
      over,
    );
    return over === SLICE;
  },
);
