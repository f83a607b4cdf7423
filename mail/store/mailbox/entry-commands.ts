import type { MessageIndex } from '../../message/index-types.ts';
import { addBlob, type NewBlob } from '../blob/blob.ts';
import { command, type Forbidden, type Read, type Stamp, type Write } from '../engine/types.ts';
import {
  applyFlags,
  DELETED,
  type NamedFlags,
  kwList,
  kwText,
  type StoredFlags,
  hasKeywords,
  storeKeywords,
  hasTooManyKeywords,
} from './flags.ts';
import { agentName, type Actor } from '../actor.ts';
import { recordReplySample } from '../filter/reply-sample.ts';
import { recordKeywordSamples, recordFlagSamples, mailboxKinds, categoryOfMove } from '../filter/training-sample.ts';
import {
  addEntry,
  detachEntries,
  entriesOf,
  type EntryRow,
  isDeleted,
  placeEntries,
  placeEntry,
  removeEntries,
  updateCounters,
} from '../message/entry.ts';
import { addEmail, cloneEmail, type Email } from '../message/message.ts';
import type { FlagChange, StoreFlagsResult } from './flag-change.ts';
import { storeRangeFlags } from './range-flags.ts';
import { snapshotThreads, NO_THREADS, updateFlagged, updateThreads } from '../message/visibility.ts';

/** Maximum rows of one command; callers slice longer work. */
export const MAX_ENTRIES = 200;
/**
 * The same for {@link storeFlags}, whose rows cost a fifth: its statements take whole slices, and each commit writes the
 * index pages that the slice touches.
 */
export const MAX_FLAGGED = 1000;

/** STORE. `modified`: UIDs that were skipped since they changed after `unchangedSince`. */
export const storeFlags = command('store-flags', (tx, input: FlagChange, stamp): Promise<StoreFlagsResult> =>
  recordedByActor(tx, input, stamp, (by) => changeFlags(tx, { ...input, by }, true)),
);

/** {@link storeFlags} for commands that update the threads themselves. */
export const storeFlagsOnly = (tx: Write, input: FlagChange): Promise<StoreFlagsResult> =>
  changeFlags(tx, input, false);

/** Records the change for undo if an agent has the password. */
export async function recordedByActor<T>(
  tx: Write,
  {
    account,
    mailbox,
    uids,
    actor,
  }: { account: number; mailbox: number; uids: readonly number[]; actor?: Actor | undefined },
  stamp: Stamp,
  change: (by: string | null) => Promise<T>,
): Promise<T> {
  const by = await agentName(tx, account, actor);
  if (by === null) return change(null);
  const emails = new Set((await entriesOf(tx, mailbox, uids)).map((row) => row.email_id));
  return tx.hooks.onChange(tx, { account, by, emails: [...emails] }, stamp, () => change(by));
}

async function changeFlags(tx: Write, input: FlagChange, updatesThreads: boolean): Promise<StoreFlagsResult> {
  const { account, mailbox, how, by = null } = input;
  if (!(await ownsMailbox(tx, account, mailbox))) return { kind: 'missing' };
  const given = await storeKeywords(tx, account, input.flags, { by, making: how !== 'remove' });
  if (given === undefined) return { kind: 'too-many-keywords' };
  const ranged = updatesThreads ? await storeRangeFlags(tx, input, given) : undefined;
  if (ranged !== undefined) return ranged;
  const rows = await entriesOf(tx, mailbox, input.uids);
  const since = input.unchangedSince;
  const modified = since === null ? [] : rows.filter((row) => row.modseq > since).map((row) => row.uid);
  const changes = rows
    .filter((row) => since === null || row.modseq <= since)
    .map((row) => ({ row, now: applyFlags({ bits: row.flags, kw: kwList(row.kw) }, how, given) }))
    .filter(({ row, now }) => now.bits !== row.flags || kwText(now) !== row.kw);
  if (changes.length === 0) return { kind: 'done', modseq: null, modified };
  if (how === 'add' && changes.some(({ now }) => hasTooManyKeywords(now.kw))) return { kind: 'too-many-keywords' };
  const modseq = await tx.nextModseq(account);
  const threads = changes.map(({ row }) => row.thread_id);
  const before = updatesThreads ? await snapshotThreads(tx, threads) : NO_THREADS;
  const flagsOf = new Map(changes.map(({ row, now }) => [row.email_id, now]));
  await writeFlags(tx, mailbox, changes, modseq);
  await writeThrough(tx, account, mailbox, flagsOf, modseq);
  const isSameSet = changes.every(({ row, now }) => ((row.flags ^ now.bits) & DELETED) === 0);
  if (isSameSet) await updateFlagged(tx, before, modseq, flagsOf);
  else await updateThreads(tx, before, modseq);
  const marked = changes.map(({ row, now }) => ({
    email: row.email_id,
    before: { bits: row.flags, kw: kwList(row.kw) },
    now,
  }));
  await recordKeywordSamples(tx, account, input.flags.keywords, marked);
  await recordReplySample(tx, input, marked);
  tx.touched(account, mailbox);
  return { kind: 'done', modseq, modified };
}

/** New flags of one entry. */
interface EntryFlags {
  row: Pick<EntryRow, 'uid' | 'flags' | 'size'>;
  now: StoredFlags;
}

/** Writes flags and counters of entries of one mailbox, with one statement for all entries that get the same flags. */
async function writeFlags(tx: Write, mailbox: number, changes: readonly EntryFlags[], modseq: number): Promise<void> {
  for (const same of Map.groupBy(changes, ({ now }) => `${now.bits} ${kwText(now) ?? ''}`).values()) {
    const [{ now }] = same as [EntryFlags];
    await tx.run(
      `UPDATE entry SET flags = ?, kw = ?, modseq = ? WHERE mailbox_id = ? AND uid IN (SELECT value FROM json_each(?))`,
      now.bits,
      kwText(now),
      modseq,
      mailbox,
      JSON.stringify(same.map(({ row }) => row.uid)),
    );
  }
  const counted = changes.flatMap(({ row: { flags, size }, now }) => [
    { bits: flags, size, sign: -1 as const },
    { bits: now.bits, size, sign: 1 as const },
  ]);
  await updateCounters(tx, mailbox, modseq, counted);
}

/** Keywords belong to the email (JMAP), so its other entries are updated too; \Deleted belongs to the entry. */
async function writeThrough(
  tx: Write,
  account: number,
  mailbox: number,
  flagsOf: ReadonlyMap<number, StoredFlags>,
  modseq: number,
): Promise<void> {
  const others = await tx.all<{ email_id: number; mailbox_id: number; uid: number; flags: number; size: number }>(
    `SELECT email_id, mailbox_id, uid, flags, size FROM json_each(?) j CROSS JOIN entry n INDEXED BY entry_email
       ON n.email_id = j.value WHERE n.mailbox_id <> ?`,
    JSON.stringify([...flagsOf.keys()]),
    mailbox,
  );
  for (const [other, rows] of Map.groupBy(others, (row) => row.mailbox_id)) {
    const changes = rows.flatMap((row) => {
      const now = flagsOf.get(row.email_id);
      return now === undefined ? [] : { row, now: { ...now, bits: (now.bits & ~DELETED) | (row.flags & DELETED) } };
    });
    await writeFlags(tx, other, changes, modseq);
    tx.touched(account, other);
  }
}

/** `kept`: reason why nothing was expunged. */
export interface ExpungeResult {
  uids: number[];
  modseq: number | null;
  kept?: string;
}

/** EXPUNGE and UID EXPUNGE: removes those of `uids` with \Deleted. */
export const expunge = command('expunge', (tx, input: Expunging, stamp): Promise<ExpungeResult> =>
  recordedByActor(tx, input, stamp, () => takeDeleted(tx, input, stamp)),
);

interface Expunging {
  account: number;
  mailbox: number;
  uids: readonly number[];
  actor?: Actor | undefined;
}

async function takeDeleted(
  tx: Write,
  { account, mailbox, uids, actor }: Expunging,
  stamp: Stamp,
): Promise<ExpungeResult> {
  if (!(await ownsMailbox(tx, account, mailbox))) return { uids: [], modseq: null };
  const rows = (await entriesOf(tx, mailbox, uids)).filter(isDeleted);
  if (rows.length === 0) return { uids: [], modseq: null };
  const emails = rows.map((row) => row.email_id);
  const allowed = await tx.hooks.beforeMove(tx, { account, emails, into: [], actor }, stamp);
  if (allowed.kind === 'forbidden') return { uids: [], modseq: null, kept: allowed.why };
  const modseq = await removeEntries(tx, account, mailbox, rows, stamp);
  await allowed.settle(tx, stamp);
  return { uids: rows.map((row) => row.uid), modseq };
}

export type CopyResult =
  | { kind: 'done'; uidValidity: number; from: number[]; to: number[]; modseq: number }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | Forbidden;

/** COPY and MOVE within an account. Flags, keywords and INTERNALDATE stay. RFC 6851 3.3. */
export const copyEntries = command('copy-entries', (tx, input: Copying, stamp): Promise<CopyResult> =>
  recordedByActor(tx, input, stamp, () => copyOrMove(tx, input, stamp)),
);

interface Copying extends Expunging {
  to: number;
  move: boolean;
}

async function copyOrMove(tx: Write, input: Copying, stamp: Stamp): Promise<CopyResult> {
  const { account, mailbox, to, move, actor } = input;
  const entries = await mailboxKinds(tx, account, [mailbox, to]);
  const [source, target] = [entries.get(mailbox), entries.get(to)];
  if (source === undefined || target === undefined) return { kind: 'missing' };
  const rows = await entriesOf(tx, mailbox, input.uids);
  if (!move && (await overQuota(tx, account, 0))) return { kind: 'over-quota' };
  const emails = rows.map((row) => row.email_id);
  const allowed = await tx.hooks.beforeMove(tx, { account, emails, into: [to], actor }, stamp);
  if (allowed.kind === 'forbidden') return allowed;
  const modseq = await tx.nextModseq(account);
  // The snapshot precedes the move, since a moved message was never hidden.
  const before = await snapshotThreads(
    tx,
    rows.map((row) => row.thread_id),
  );
  // The old entries are removed first, for moves within one mailbox.
  if (move && rows.length > 0) await detachEntries(tx, account, mailbox, rows, stamp);
  const placed = await placeCopies(tx, { account, to }, rows, stamp);
  const said = placed.map(({ email }, at) => ({
    email,
    says: categoryOfMove(source.place, target.place, rows[at]?.flags ?? 0),
  }));
  await recordFlagSamples(tx, account, said);
  await updateThreads(tx, before, modseq);
  await allowed.settle(tx, stamp);
  return {
    kind: 'done',
    uidValidity: target.uidvalidity,
    from: rows.map((row) => row.uid),
    to: placed.map(({ uid }) => uid),
    modseq,
  };
}

/** Gives each email an entry, under ascending UIDs. Emails that the target already has are copied. */
async function placeCopies(
  tx: Write,
  { account, to }: { account: number; to: number },
  rows: readonly EntryRow[],
  stamp: Stamp,
): Promise<{ email: number; uid: number }[]> {
  if (rows.length === 0) return [];
  const there = await emailsIn(tx, to, rows);
  const isSet = new Set(rows.map((row) => row.email_id)).size === rows.length;
  if (there.size === 0 && isSet) {
    const placed = rows.map((row) => ({ email: emailOf(account, row), flags: storedFlagsOf(row) }));
    const { uids } = await placeEntries(tx, to, account, placed, stamp);
    return rows.map((row, at) => ({ email: row.email_id, uid: uids[at] ?? 0 }));
  }
  const copies: { email: number; uid: number }[] = [];
  for (const row of rows) {
    const email = there.has(row.email_id) ? await cloneEmail(tx, account, row.email_id) : emailOf(account, row);
    const place = email.alone === true ? addEntry : placeEntry;
    copies.push({ email: email.id, uid: (await place(tx, to, email, storedFlagsOf(row), stamp)).uid });
    there.add(row.email_id);
  }
  return copies;
}

/** Those of the emails that a mailbox has: JMAP's mailboxIds is a set, IMAP requires a new UID for each copy. */
async function emailsIn(tx: Write, mailbox: number, rows: readonly EntryRow[]): Promise<Set<number>> {
  const found = await tx.all<{ email_id: number }>(
    `SELECT n.email_id FROM json_each(?) j CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = j.value
     WHERE n.mailbox_id = ?`,
    JSON.stringify(rows.map((row) => row.email_id)),
    mailbox,
  );
  return new Set(found.map((row) => row.email_id));
}

function emailOf(account: number, row: EntryRow): Email {
  return { id: row.email_id, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
}

function storedFlagsOf(row: EntryRow): StoredFlags {
  return { bits: row.flags, kw: kwList(row.kw) };
}

/** Counts an email without entries against the quota again, before it gets an entry. */
export async function restoreToQuota(
  tx: Write,
  account: number,
  row: Pick<EntryRow, 'size' | 'email_id'>,
): Promise<void> {
  await tx.run(
    `UPDATE account SET used_bytes = used_bytes + ?, used_count = used_count + 1
     WHERE id = ? AND NOT EXISTS (SELECT 1 FROM entry WHERE email_id = ?)`,
    row.size,
    account,
    row.email_id,
  );
}

export type AppendResult =
  | { kind: 'appended'; mailbox: number; uidValidity: number; uid: number; modseq: number }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | { kind: 'too-many-keywords' }
  | Forbidden;

/** APPEND: always a new email. `actor`: the credential that was used. */
export const appendMessage = command(
  'append',
  async (
    tx,
    input: {
      account: number;
      mailbox: number;
      flags: NamedFlags;
      receivedAt: number;
      file: { file: string; size: number } | null;
      data: Uint8Array | null;
      index: MessageIndex;
      actor?: Actor | undefined;
    },
    stamp,
  ): Promise<AppendResult> => {
    const { account, mailbox, index, receivedAt } = input;
    if (!(await ownsMailbox(tx, account, mailbox))) return { kind: 'missing' };
    if (await tx.hooks.isReserved(tx, account, mailbox)) return RESERVED_MAILBOX;
    if (await overQuota(tx, account, index.size)) return { kind: 'over-quota' };
    const by = await agentName(tx, account, input.actor);
    const flags = await storeKeywords(tx, account, input.flags, { by });
    if (flags === undefined) return { kind: 'too-many-keywords' };
    const blob = await addBlob(tx, newBlob(input));
    const namedBy = hasKeywords(flags) ? by : null;
    const email = await addEmail(tx, { account, blob, index, trace: '', receivedAt, by, namedBy });
    const entry = await addEntry(tx, mailbox, email, flags, stamp);
    return { kind: 'appended', mailbox, ...entry };
  },
);

/** The gate alone stores messages in a reserved mailbox. */
export const RESERVED_MAILBOX: Forbidden = {
  kind: 'forbidden',
  why: 'Only the server stores messages here: it holds mail that awaits approval or was approved',
};

/** A blob as it crosses threads: its data is a top-level field, where the limit of the queue counts it. */
export function newBlob(input: { data: Uint8Array | null; file: { file: string; size: number } | null }): NewBlob {
  if (input.data !== null) return { data: input.data };
  if (input.file !== null) return input.file;
  throw new Error('a message without octets');
}

/** Reports whether one more message of this size, or `count` messages, exceed the quota. */
export async function overQuota(tx: Read, account: number, more: number, count = 1): Promise<boolean> {
  const row = await tx.get(
    `SELECT 1 AS over FROM account WHERE id = ? AND (used_bytes + ? > quota_bytes OR used_count + ? > quota_count)`,
    account,
    more,
    count,
  );
  return row !== undefined;
}

/** Reports whether the account has the mailbox. */
export async function ownsMailbox(tx: Write, account: number, mailbox: number): Promise<boolean> {
  const row = await tx.get(
    'SELECT 1 AS mine FROM mailbox WHERE id = ? AND account_id = ? AND deleted_at IS NULL',
    mailbox,
    account,
  );
  return row !== undefined;
}
