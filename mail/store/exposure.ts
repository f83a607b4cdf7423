import type { Authored } from './authors.ts';
import { authorsOf, earlierThan } from './authors.ts';
import { command, query, type Read, type Row, type Write } from './engine/types.ts';
import { ownNames } from './own-names.ts';

const HOUR_MS = 3_600_000;
/** What is read again within it is not written down again. */
export const FRESH_MS = HOUR_MS;
/** A day, and the time for which a second reading is not written down. */
export const EXPOSED_MS = 24 * HOUR_MS + FRESH_MS;
/** Messages that are remembered of one reader; the oldest go first. That it is exposed stays. */
export const MOST_EXPOSURES = 500;
/** Rows of one slice. */
const SLICE = 200;

/** Who reads: all that one token and those that it made read is one reader; so is what is read by a mailbox's password. */
export interface Reader {
  tenant: number;
  /** Public id of a token or of a mailbox. */
  reader: string;
  /** Which token it was. */
  credential: string;
  byPassword: boolean;
  /** Owners and members, as addresses are compared: what they write is of the house, when it is proved to be theirs. */
  house: readonly string[];
}

/** Mail of outsiders that an agent read. */
export interface ReadMail {
  email: number;
  account: number;
  /** As compared; '' for none. */
  author: string;
  verdict: Authored['verdict'];
  authentic: boolean;
  /** ms UTC. */
  at: number;
}

/** Which of these messages of an account show mail of outsiders: they wrote it, nobody knows who did, or it is quoted. */
export const outsidersMail = query(
  'outsiders-mail',
  async (rx, input: House & { account: number; emails: readonly number[] }): Promise<number[]> => [
    ...(await outsidersIn(rx, input)).keys(),
  ],
);

type House = Pick<Reader, 'tenant' | 'house'>;

/** What outsiders wrote of what messages show, by the message that shows it. */
async function outsidersIn(
  rx: Read,
  { tenant, house, account, emails }: House & { account: number; emails: readonly number[] },
): Promise<Map<number, Authored[]>> {
  const all = await authorsOf(rx, account, emails);
  const ours = await oursAmong(rx, { tenant, house }, all);
  const found = new Map(all.filter(({ email }) => !ours.has(email)).map((one) => [one.email, [one]]));
  const quoting = all.filter(({ email, quotes }) => ours.has(email) && quotes !== null);
  for (const [email, quoted] of await quotedBy(rx, { tenant, house, account }, quoting)) found.set(email, quoted);
  return found;
}

/**
 * What of outsiders mail of the house quotes, as far as that is known: what stands before it in its thread. Of whom a
 * message is that is attached, or that the account does not have, nobody knows.
 */
async function quotedBy(
  rx: Read,
  { tenant, house, account }: House & { account: number },
  quoting: readonly Authored[],
): Promise<Map<number, Authored[]>> {
  const answers = quoting.filter(({ quotes }) => quotes === 'earlier').map(({ email }) => email);
  const pairs = answers.length === 0 ? [] : await earlierThan(rx, account, answers);
  const earlier = await authorsOf(rx, account, [...new Set(pairs.map((one) => one.earlier))]);
  const ours = await oursAmong(rx, { tenant, house }, earlier);
  const known = new Map(earlier.map((one) => [one.email, one]));
  const found = new Map<number, Authored[]>();
  for (const one of quoting) {
    const before = pairs.filter(({ email }) => email === one.email).flatMap((pair) => known.get(pair.earlier) ?? []);
    const quoted =
      before.length === 0 ? [{ ...one, author: '', authentic: false }] : before.filter(({ email }) => !ours.has(email));
    if (quoted.length > 0) found.set(one.email, quoted);
  }
  return found;
}

async function oursAmong(rx: Read, { tenant, house }: House, all: readonly Authored[]): Promise<Set<number>> {
  const own = await ownNames(
    rx,
    tenant,
    all.map(({ author }) => author),
  );
  const names = new Set([...house, ...own]);
  return new Set(all.filter((one) => isOurs(one, tenant, names)).map(({ email }) => email));
}

function isOurs(
  { author, authentic, writtenBy, ownCopy, verdict }: Authored,
  tenant: number,
  ours: Set<string>,
): boolean {
  if (writtenBy !== null) return writtenBy === tenant;
  return verdict === 'clear' && (authentic || ownCopy) && ours.has(author);
}

/** Writes down what was read; of mail of the house nothing. Answers how much of it is new. */
export const noteExposures = command(
  'note-exposures',
  async (
    tx,
    { reader: who, account, emails }: { reader: Reader; account: number; emails: readonly number[] },
    { now },
  ): Promise<number> => {
    const { reader, credential } = who;
    const read = [...(await outsidersIn(tx, { ...who, account, emails })).values()].flat();
    const all = [...new Map(read.map((one) => [one.email, one])).values()];
    if (all.length === 0) return 0;
    await markExposed(tx, who, now);
    for (const { email, author, verdict, authentic } of all) {
      await tx.run(
        `INSERT INTO exposure (reader, email_id, account_id, credential, author, verdict, authentic, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (reader, email_id) DO UPDATE SET at = excluded.at, credential = excluded.credential`,
        reader,
        email,
        account,
        credential,
        author,
        verdict,
        Number(authentic),
        now,
      );
    }
    await trim(tx, reader);
    return all.length;
  },
);

/** The same of text that lies in no mailbox: there is no message to remember, but its reader is exposed all the same. */
export const noteExposed = command('note-exposed', async (tx, { reader }: { reader: Reader }, { now }): Promise<void> =>
  markExposed(tx, reader, now),
);

async function markExposed(tx: Write, { reader, tenant, byPassword }: Reader, now: number): Promise<void> {
  await tx.run(
    `INSERT INTO exposed (reader, tenant, by_password, since, last_at) VALUES (?1, ?2, ?3, ?4, ?4)
     ON CONFLICT (reader) DO UPDATE SET since = iif(last_at <= ?4 - ?5, ?4, since), last_at = max(last_at, ?4)`,
    reader,
    tenant,
    Number(byPassword),
    now,
    EXPOSED_MS,
  );
}

async function trim(tx: Write, reader: string): Promise<void> {
  await tx.run(
    `DELETE FROM exposure WHERE reader = ?1 AND at <
       (SELECT at FROM exposure WHERE reader = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)`,
    reader,
    MOST_EXPOSURES - 1,
  );
}

/** As whom a sender is looked up: who has a password may have any token of the tenant, and the other way round. */
export type Sending = Pick<Reader, 'tenant' | 'reader' | 'byPassword'>;

interface ExposedRow extends Row {
  since: number;
  last_at: number;
}

/** Since when a sender is exposed, ms UTC, but not before the window; undefined: it is not. */
export async function exposedSince(
  rx: Read,
  { tenant, reader, byPassword }: Sending,
  now: number,
): Promise<number | undefined> {
  const rows = await rx.all<ExposedRow>(
    `SELECT since, last_at FROM exposed WHERE tenant = ?1 AND last_at > ?2 AND (reader = ?3 OR ?4 = 1 OR by_password = 1)`,
    tenant,
    now - EXPOSED_MS,
    reader,
    Number(byPassword),
  );
  if (rows.length === 0) return undefined;
  return Math.max(now - EXPOSED_MS, Math.min(...rows.map(({ since }) => since)));
}

interface ReadRow extends Row {
  email_id: number;
  account_id: number;
  author: string;
  verdict: Authored['verdict'];
  authentic: number;
  at: number;
}

/** The newest that a sender had read. */
export async function readBy(
  rx: Read,
  { tenant, reader, byPassword }: Sending,
  limit: number,
  now: number,
): Promise<ReadMail[]> {
  const rows = await rx.all<ReadRow>(
    `SELECT e.email_id, e.account_id, e.author, e.verdict, e.authentic, e.at FROM exposed x
     JOIN exposure e ON e.reader = x.reader
     WHERE x.tenant = ?1 AND x.last_at > ?2 AND e.at > ?2 AND (x.reader = ?3 OR ?4 = 1 OR x.by_password = 1)
     ORDER BY e.at DESC, e.email_id DESC LIMIT ?5`,
    tenant,
    now - EXPOSED_MS,
    reader,
    Number(byPassword),
    limit,
  );
  return rows.map(({ email_id: email, account_id: account, authentic, ...row }) => ({
    email,
    account,
    author: row.author,
    verdict: row.verdict,
    authentic: authentic === 1,
    at: row.at,
  }));
}

/** Forgets a slice of what is older than a day, and who has read nothing since. */
export const forgetExposures = command('forget-exposures', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const rows = await tx.run(
    `DELETE FROM exposure WHERE (reader, email_id) IN (SELECT e.reader, e.email_id FROM exposed x
       CROSS JOIN exposure e ON e.reader = x.reader WHERE e.at <= ? LIMIT ?)`,
    now - EXPOSED_MS,
    SLICE,
  );
  // A reader goes when nothing of it is left: its rows are found by it.
  const readers = await tx.run(
    `DELETE FROM exposed WHERE reader IN (SELECT reader FROM exposed x WHERE last_at <= ?
       AND NOT EXISTS (SELECT 1 FROM exposure e WHERE e.reader = x.reader) LIMIT ?)`,
    now - EXPOSED_MS,
    SLICE,
  );
  return rows.changes === SLICE || readers.changes === SLICE;
});
