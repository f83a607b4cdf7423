import type { MessageAuthorship } from '../../store/message/authors.ts';
import { authorsOf, earlierThan } from '../../store/message/authors.ts';
import { command, query, type Read, type Row, type Write } from '../../store/engine/types.ts';
import { taintedEmails } from './content.ts';
import { addressesHostedHere, ownNames } from '../../store/address/own-names.ts';

const HOUR_MS = 3_600_000;
/** A message read again within this time is not recorded again. */
export const FRESH_MS = HOUR_MS;
/** A day, and an hour more: the last reading may be up to an hour later than the recorded one. */
export const TAINT_MS = 24 * HOUR_MS + FRESH_MS;
/** Most messages that are recorded for one reader. The oldest are dropped; the reader stays tainted. */
export const MAX_TAINTS = 500;
/** Time that mail may be on its way: at most 30 days until it leaves, and those of the queue. */
const ON_WAY_MS = 60 * 24 * HOUR_MS;
/** Longer than an upload is stored. */
const UPLOAD_MS = 48 * HOUR_MS;
/** Rows of one slice. */
const SLICE = 200;

/** Identity for taint: a root token and all tokens derived from it are one reader; so is a mailbox's password. */
export interface TaintReader {
  tenant: number;
  /** Public id of a token or mailbox. */
  reader: string;
  /** Public id of the token used. */
  credential: string;
  byPassword: boolean;
  /** Owners and members, as addresses are compared: their authenticated mail is internal. */
  internal: readonly string[];
}

/** Mail from outsiders that an agent read. */
export interface ReadMail {
  email: number;
  account: number;
  /** As compared; '' if none. */
  author: string;
  verdict: MessageAuthorship['verdict'];
  authentic: boolean;
  /** ms UTC. */
  at: number;
}

/** Messages of an account that show outsiders' text: by their author, by an unknown author, or quoted. */
export const outsidersMail = query(
  'external-mail',
  async (rx, input: InternalNames & { account: number; emails: readonly number[] }): Promise<number[]> => [
    ...(await outsidersIn(rx, input)).keys(),
  ],
);

type InternalNames = Pick<TaintReader, 'tenant' | 'internal'>;

/** Authors outside, by the message that shows their text. */
async function outsidersIn(
  rx: Read,
  { tenant, internal, account, emails }: InternalNames & { account: number; emails: readonly number[] },
): Promise<Map<number, MessageAuthorship[]>> {
  const all = await authorsOf(rx, account, emails);
  const ours = await cleanOurs(rx, { tenant, internal }, all);
  const marked = await taintedEmails(rx, emails);
  // The author of words that a tainted agent passed on is unknown.
  const found = new Map(
    all
      .filter(({ email }) => !ours.has(email))
      .map((one) => [one.email, [marked.has(one.email) ? { ...one, author: '' } : one]]),
  );
  const quoting = all.filter(({ email, quotes }) => ours.has(email) && quotes !== null);
  for (const [email, quoted] of await quotedBy(rx, { tenant, internal, account }, quoting)) found.set(email, quoted);
  return found;
}

/**
 * Outsiders quoted in internal mail, as far as known: the messages before it in its thread. The author of an attached
 * message, or of one that the account does not have, is unknown.
 */
async function quotedBy(
  rx: Read,
  { tenant, internal, account }: InternalNames & { account: number },
  quoting: readonly MessageAuthorship[],
): Promise<Map<number, MessageAuthorship[]>> {
  const answers = quoting.filter(({ quotes }) => quotes === 'earlier').map(({ email }) => email);
  const pairs = answers.length === 0 ? [] : await earlierThan(rx, account, answers);
  const earlier = await authorsOf(rx, account, [...new Set(pairs.map((one) => one.earlier))]);
  const ours = await cleanOurs(rx, { tenant, internal }, earlier);
  const known = new Map(earlier.map((one) => [one.email, one]));
  const found = new Map<number, MessageAuthorship[]>();
  for (const one of quoting) {
    const before = pairs.filter(({ email }) => email === one.email).flatMap((pair) => known.get(pair.earlier) ?? []);
    const quoted =
      before.length === 0 ? [{ ...one, author: '', authentic: false }] : before.filter(({ email }) => !ours.has(email));
    if (quoted.length > 0) found.set(one.email, quoted);
  }
  return found;
}

/** Internal messages, without those that a tainted agent wrote: they pass its taint on. */
async function cleanOurs(rx: Read, names: InternalNames, all: readonly MessageAuthorship[]): Promise<Set<number>> {
  const ours = await oursAmong(rx, names, all);
  for (const email of await taintedEmails(rx, [...ours])) ours.delete(email);
  return ours;
}

async function oursAmong(
  rx: Read,
  { tenant, internal }: InternalNames,
  all: readonly MessageAuthorship[],
): Promise<Set<number>> {
  const own = await ownNames(
    rx,
    tenant,
    all.map(({ author }) => author),
  );
  const hosted = await addressesHostedHere(rx, internal);
  const names = {
    ours: new Set([...internal, ...own]),
    elsewhere: new Set(internal.filter((one) => !hosted.has(one))),
  };
  return new Set(all.filter((one) => isOurs(one, tenant, names)).map(({ email }) => email));
}

/**
 * Mail from outside with an author of this server is not internal, even if DMARC passes: anybody who once got a message
 * can send it here again with its DKIM signature (RFC 6376 8.6), and with it what a tainted agent wrote.
 */
function isOurs(
  { author, authentic, writtenBy, ownCopy, verdict }: MessageAuthorship,
  tenant: number,
  { ours, elsewhere }: { ours: ReadonlySet<string>; elsewhere: ReadonlySet<string> },
): boolean {
  if (writtenBy !== null) return writtenBy === tenant;
  return verdict === 'clear' && ((ownCopy && ours.has(author)) || (authentic && elsewhere.has(author)));
}

/** Records outsiders' mail that was read, and taints the reader. Returns the number of messages. */
export const recordTaints = command(
  'record-untrusted-reads',
  async (
    tx,
    { reader: who, account, emails }: { reader: TaintReader; account: number; emails: readonly number[] },
    { now },
  ): Promise<number> => {
    const { reader, credential } = who;
    const read = [...(await outsidersIn(tx, { ...who, account, emails })).values()].flat();
    const all = [...new Map(read.map((one) => [one.email, one])).values()];
    if (all.length === 0) return 0;
    await writeTaint(tx, who, now);
    for (const { email, author, verdict, authentic } of all) {
      await tx.run(
        `INSERT INTO untrusted_read (reader, email_id, account_id, credential, author, verdict, authentic, at)
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

/** Taints a reader by text that is in no mailbox. */
export const markTainted = command(
  'mark-tainted',
  async (tx, { reader }: { reader: TaintReader }, { now }): Promise<void> => writeTaint(tx, reader, now),
);

async function writeTaint(tx: Write, { reader, tenant, byPassword }: TaintReader, now: number): Promise<void> {
  await tx.run(
    `INSERT INTO tainted_reader (reader, tenant, by_password, since, last_at) VALUES (?1, ?2, ?3, ?4, ?4)
     ON CONFLICT (reader) DO UPDATE SET since = iif(tainted_reader.last_at <= ?4 - ?5, ?4, tainted_reader.since), last_at = max(tainted_reader.last_at, ?4)`,
    reader,
    tenant,
    Number(byPassword),
    now,
    TAINT_MS,
  );
}

async function trim(tx: Write, reader: string): Promise<void> {
  await tx.run(
    `DELETE FROM untrusted_read WHERE reader = ?1 AND at <
       (SELECT at FROM untrusted_read WHERE reader = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)`,
    reader,
    MAX_TAINTS - 1,
  );
}

/** Identity for the taint of a sender: a password holder may hold any token of the tenant, and the other way round. */
export type Sending = Pick<TaintReader, 'tenant' | 'reader' | 'byPassword'>;

interface TaintRow extends Row {
  since: number;
  last_at: number;
}

/** Time since which a sender is tainted, ms UTC, at most the window ago; undefined if it is not. */
export async function taintedSince(
  rx: Read,
  { tenant, reader, byPassword }: Sending,
  now: number,
): Promise<number | undefined> {
  const rows = await rx.all<TaintRow>(
    `SELECT since, last_at FROM tainted_reader WHERE tenant = ?1 AND last_at > ?2 AND (reader = ?3 OR ?4 = 1 OR by_password = 1)`,
    tenant,
    now - TAINT_MS,
    reader,
    Number(byPassword),
  );
  if (rows.length === 0) return undefined;
  return Math.max(now - TAINT_MS, Math.min(...rows.map(({ since }) => since)));
}

interface ReadRow extends Row {
  email_id: number;
  account_id: number;
  author: string;
  verdict: MessageAuthorship['verdict'];
  authentic: number;
  at: number;
}

/** Newest outsiders' mail that a sender had read, by known authors first. */
export async function readBy(
  rx: Read,
  { tenant, reader, byPassword }: Sending,
  limit: number,
  now: number,
): Promise<ReadMail[]> {
  const rows = await rx.all<ReadRow>(
    `SELECT e.email_id, e.account_id, e.author, e.verdict, e.authentic, e.at FROM tainted_reader x
     JOIN untrusted_read e ON e.reader = x.reader
     WHERE x.tenant = ?1 AND x.last_at > ?2 AND e.at > ?2 AND (x.reader = ?3 OR ?4 = 1 OR x.by_password = 1)
     ORDER BY e.author = '', e.at DESC, e.email_id DESC LIMIT ?5`,
    tenant,
    now - TAINT_MS,
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

/** Purges a slice of records older than a day, and readers that have read nothing since. */
export const purgeTaints = command(
  'purge-untrusted-reads',
  async (tx, _input: undefined, { now }): Promise<boolean> => {
    const rows = await tx.run(
      `DELETE FROM untrusted_read WHERE (reader, email_id) IN (SELECT e.reader, e.email_id FROM tainted_reader x
       CROSS JOIN untrusted_read e ON e.reader = x.reader AND e.at <= ? LIMIT ?)`,
      now - TAINT_MS,
      SLICE,
    );
    // A reader is deleted last: its rows are found by it.
    const readers = await tx.run(
      `DELETE FROM tainted_reader WHERE reader IN (SELECT reader FROM tainted_reader x WHERE last_at <= ?
       AND NOT EXISTS (SELECT 1 FROM untrusted_read e WHERE e.reader = x.reader) LIMIT ?)`,
      now - TAINT_MS,
      SLICE,
    );
    const sent = await tx.run(
      `DELETE FROM tainted_content WHERE content IN (SELECT content FROM tainted_content
         WHERE content > 'trace/' AND content < 'trace0' AND at < ? LIMIT ?)`,
      now - ON_WAY_MS,
      SLICE,
    );
    const uploads = await tx.run(
      `DELETE FROM tainted_content WHERE content IN (SELECT content FROM tainted_content
         WHERE content > 'words/' AND content < 'words0' AND content LIKE 'words/%/upload-%' AND at < ? LIMIT ?)`,
      now - UPLOAD_MS,
      SLICE,
    );
    return [rows, readers, sent, uploads].some(({ changes }) => changes === SLICE);
  },
);
