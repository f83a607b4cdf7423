import { command, query, type Read, type Stamp, type Write } from './engine/types.ts';

/** How mail under one key fared, as of now. See policy/sender-keys for the keys. */
export interface SenderRecord {
  key: string;
  /** Delivered to the inbox, taken for junk, and kept by the person: numbers of messages that fade by half in 90 days. */
  seen: number;
  junked: number;
  kept: number;
  /** ms UTC, of the first. */
  since: number;
}

/** What is known of a sender before its mail is delivered. */
export interface Reputation {
  /** In this account. */
  own: SenderRecord[];
  /** What accounts of this box say, a vote each. */
  box: SenderRecord[];
  /** The account has written to the author. */
  wrote: boolean;
}

const DAY = 24 * 3_600_000;
/** Row 0 of accounts: all of them. */
const BOX = 0;
const HALF_LIFE = 90 * DAY;
/** Not heard of for so long: forgotten. */
const KEEP_DAYS = 365;
/** Rows that one account keeps; the ones not heard of for longest go first. */
export const MOST_SENDERS = 20_000;
const SLICE = 200;

/** What an account and the box know of the keys of a message; `author` is its address, '' for none. */
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
      wrote: wrote !== undefined,
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
     FROM json_each(?1) k CROSS JOIN sender s ON s.key = k.value AND s.account_id IN (?2, 0)`,
    JSON.stringify(keys),
    account,
    now,
    HALF_LIFE,
  );
}

function toRecord({ key, seen, junked, kept, since }: RecordRow): SenderRecord {
  return { key, seen, junked, kept, since };
}

/** What our own verdict counts beside a person's: it must not feed on itself. */
const OWN_VERDICT = 0.25;

/** Notes a delivery in its own commit: one statement an account. `junk`: it went to Junk. */
export async function noteSender(
  tx: Write,
  { account, keys, junk }: { account: number; keys: readonly string[]; junk: boolean },
  stamp: Stamp,
): Promise<void> {
  if (keys.length > 0)
    await add(tx, account, keys, { seen: junk ? 0 : 1, junked: junk ? OWN_VERDICT : 0, kept: 0 }, stamp);
}

/** What a person's hand says of a message that had been delivered. */
export type SenderLesson = 'junk' | 'kept';

/**
 * Notes a lesson, in the commit that learns it: of the account as counts, of the box as at most one vote of this account,
 * so that nobody's diligence outweighs the others. `claimed` keys learn from junk only: no one earns trust by a claim.
 */
export async function noteSenderLesson(
  tx: Write,
  { account, keys, lesson }: { account: number; keys: readonly string[]; lesson: SenderLesson },
  stamp: Stamp,
): Promise<void> {
  const junk = lesson === 'junk';
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

/** Moves the vote of an account. */
async function recount(
  tx: Write,
  key: string,
  before: SenderLesson | undefined,
  after: SenderLesson | undefined,
  stamp: Stamp,
): Promise<void> {
  const votes = (lesson: SenderLesson): number => Number(after === lesson) - Number(before === lesson);
  await add(tx, BOX, [key], { seen: 0, junked: votes('junk'), kept: votes('kept') }, stamp);
}

/** What an account has told of a key, by what is stronger. */
function vote({ junked, kept }: Pick<SenderRecord, 'junked' | 'kept'>): SenderLesson | undefined {
  if (Math.max(junked, kept) < 0.5) return undefined;
  return junked > kept ? 'junk' : 'kept';
}

/** Adds to what has faded meanwhile; nothing goes below 0. */
async function add(
  tx: Write,
  account: number,
  keys: readonly string[],
  { seen, junked, kept }: Pick<SenderRecord, 'seen' | 'junked' | 'kept'>,
  { now }: Stamp,
): Promise<void> {
  await tx.run(
    `INSERT INTO sender (account_id, key, seen, junked, kept, at, since, day)
     SELECT ?1, value, max(0.0, ?3), max(0.0, ?4), max(0.0, ?5), ?6, ?6, ?7 FROM json_each(?2) WHERE true
     ON CONFLICT (account_id, key) DO UPDATE SET
       seen = max(0.0, seen * pow(0.5, max(0.0, ?6 - at) / ?8) + ?3),
       junked = max(0.0, junked * pow(0.5, max(0.0, ?6 - at) / ?8) + ?4),
       kept = max(0.0, kept * pow(0.5, max(0.0, ?6 - at) / ?8) + ?5),
       at = max(at, ?6), day = max(day, ?7)`,
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

/** Forgets a slice of senders that were not heard of for a year. */
export const forgetSenders = command('forget-senders', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    `DELETE FROM sender WHERE (account_id, key) IN
       (SELECT account_id, key FROM sender INDEXED BY sender_day WHERE day < ? LIMIT ?)`,
    Math.floor(now / DAY) - KEEP_DAYS,
    SLICE,
  );
  return changes === SLICE;
});

/** Accounts with more senders than are kept, the box among them. Reads every row's key. */
export const crowdedSenders = query('crowded-senders', async (rx, input: { most: number }): Promise<number[]> => {
  const rows = await rx.all<{ account: number }>(
    'SELECT account_id AS account FROM sender GROUP BY account_id HAVING count(*) > ? LIMIT 100',
    input.most,
  );
  return rows.map(({ account }) => account);
});

/** Forgets a slice of the senders of an account that are beyond what is kept. */
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
