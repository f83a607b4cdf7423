import type { MessageIndex } from '../message/index-types.ts';
import { type Forbidden, settleMove, weighMove } from './approval-moves.ts';
import { isForApproval } from './approval-places.ts';
import { addBlob, type NewBlob } from './blob.ts';
import { noted } from './agent-change.ts';
import { command, type Read, type Stamp, type Write } from './engine/types.ts';
import {
  applyFlags,
  DELETED,
  type FlagSet,
  kwList,
  kwText,
  type StoredFlags,
  storeKeywords,
  tooMany,
} from './flags.ts';
import { agentsName, type Hand } from './hand.ts';
import { noteAnswered } from './lesson-answered.ts';
import { noteKeywords, noteSaid, placesOf, saidByMove } from './lesson.ts';
import {
  addEmail,
  addEntry,
  cloneEmail,
  type Email,
  entriesOf,
  type EntryRow,
  isDeleted,
  placeEntry,
  recount,
  removeEntries,
  takeEntries,
} from './message.ts';
import { lookAtThreads, NOTHING_SEEN, settleThreads } from './shown.ts';

/** The most rows that one of these commands takes; callers cut longer work into slices. */
export const SLICE = 200;

export type StoreFlagsResult =
  { kind: 'done'; modseq: number | null; modified: number[] } | { kind: 'too-many-keywords' } | { kind: 'missing' };

export interface FlagChange {
  account: number;
  mailbox: number;
  uids: readonly number[];
  how: 'add' | 'remove' | 'replace';
  flags: FlagSet;
  unchangedSince: number | null;
  /** Whose word it is, where it may be a person's. */
  hand?: Hand | undefined;
}

/** STORE. `modified` are the UIDs left alone because they changed after `unchangedSince`. */
export const storeFlags = command('store-flags', (tx, input: FlagChange, stamp): Promise<StoreFlagsResult> =>
  notedByHand(tx, input, stamp, () => changeFlags(tx, input, lookAtThreads)),
);

/** The same inside of a command that looks at the threads and settles them itself, once for all that it does. */
export const storeFlagsUnsettled = (tx: Write, input: FlagChange): Promise<StoreFlagsResult> =>
  changeFlags(tx, input, () => Promise.resolve(NOTHING_SEEN));

/** {@link noted}, where an agent has the password. */
async function notedByHand<T>(
  tx: Write,
  {
    account,
    mailbox,
    uids,
    hand,
  }: { account: number; mailbox: number; uids: readonly number[]; hand?: Hand | undefined },
  stamp: Stamp,
  change: () => Promise<T>,
): Promise<T> {
  const by = await agentsName(tx, account, hand);
  if (by === null) return change();
  const emails = new Set((await entriesOf(tx, mailbox, uids)).map((row) => row.email_id));
  return noted(tx, { account, by, emails: [...emails] }, stamp, change);
}

async function changeFlags(tx: Write, input: FlagChange, look: typeof lookAtThreads): Promise<StoreFlagsResult> {
  const { account, mailbox, how } = input;
  if (!(await owns(tx, account, mailbox))) return { kind: 'missing' };
  const given = await storeKeywords(tx, account, input.flags, how !== 'remove');
  if (given === undefined) return { kind: 'too-many-keywords' };
  const rows = await entriesOf(tx, mailbox, input.uids);
  const since = input.unchangedSince;
  const modified = since === null ? [] : rows.filter((row) => row.modseq > since).map((row) => row.uid);
  const changes = rows
    .filter((row) => since === null || row.modseq <= since)
    .map((row) => ({ row, now: applyFlags({ bits: row.flags, kw: kwList(row.kw) }, how, given) }))
    .filter(({ row, now }) => now.bits !== row.flags || kwText(now) !== row.kw);
  if (changes.length === 0) return { kind: 'done', modseq: null, modified };
  if (how === 'add' && changes.some(({ now }) => tooMany(now.kw))) return { kind: 'too-many-keywords' };
  const modseq = await tx.nextModseq(account);
  const before = await look(
    tx,
    changes.map(({ row }) => row.thread_id),
  );
  for (const { row, now } of changes) {
    await writeFlags(tx, mailbox, row.uid, now, modseq);
    await writeThrough(tx, account, mailbox, row, now, modseq);
  }
  await recount(
    tx,
    mailbox,
    modseq,
    changes.flatMap(({ row, now }) => swap(row, row.flags, now.bits)),
  );
  await settleThreads(tx, before, modseq);
  const marked = changes.map(({ row, now }) => ({
    email: row.email_id,
    before: { bits: row.flags, kw: kwList(row.kw) },
    now,
  }));
  await noteKeywords(tx, account, input.flags.keywords, marked);
  await noteAnswered(tx, input, marked);
  tx.touched(account, mailbox);
  return { kind: 'done', modseq, modified };
}

function swap(row: { size: number }, was: number, now: number): { bits: number; size: number; sign: 1 | -1 }[] {
  return [
    { bits: was, size: row.size, sign: -1 },
    { bits: now, size: row.size, sign: 1 },
  ];
}

async function writeFlags(tx: Write, mailbox: number, uid: number, flags: StoredFlags, modseq: number): Promise<void> {
  await tx.run(
    'UPDATE entry SET flags = ?, kw = ?, modseq = ? WHERE mailbox_id = ? AND uid = ?',
    flags.bits,
    kwText(flags),
    modseq,
    mailbox,
    uid,
  );
}

/** Keywords belong to the email (JMAP), so its other entries get them too; \Deleted belongs to the entry. */
async function writeThrough(
  tx: Write,
  account: number,
  mailbox: number,
  row: EntryRow,
  flags: StoredFlags,
  modseq: number,
): Promise<void> {
  const others = await tx.all<{ mailbox_id: number; uid: number; flags: number; size: number }>(
    'SELECT mailbox_id, uid, flags, size FROM entry WHERE email_id = ? AND NOT (mailbox_id = ? AND uid = ?)',
    row.email_id,
    mailbox,
    row.uid,
  );
  for (const other of others) {
    const bits = (flags.bits & ~DELETED) | (other.flags & DELETED);
    await writeFlags(tx, other.mailbox_id, other.uid, { bits, kw: flags.kw }, modseq);
    await recount(tx, other.mailbox_id, modseq, swap(other, other.flags, bits));
    tx.touched(account, other.mailbox_id);
  }
}

/** `kept`: why nothing was taken out. */
export interface Expunged {
  uids: number[];
  modseq: number | null;
  kept?: string;
}

/** EXPUNGE and UID EXPUNGE: those of `uids` that carry \Deleted. */
export const expunge = command('expunge', (tx, input: Expunging, stamp): Promise<Expunged> =>
  notedByHand(tx, input, stamp, () => takeDeleted(tx, input, stamp)),
);

interface Expunging {
  account: number;
  mailbox: number;
  uids: readonly number[];
  hand?: Hand | undefined;
}

async function takeDeleted(tx: Write, { account, mailbox, uids, hand }: Expunging, stamp: Stamp): Promise<Expunged> {
  if (!(await owns(tx, account, mailbox))) return { uids: [], modseq: null };
  const rows = (await entriesOf(tx, mailbox, uids)).filter(isDeleted);
  if (rows.length === 0) return { uids: [], modseq: null };
  const emails = rows.map((row) => row.email_id);
  const weighed = await weighMove(tx, { account, emails, into: [], hand }, stamp);
  if (weighed.kind === 'forbidden') return { uids: [], modseq: null, kept: weighed.why };
  const modseq = await removeEntries(tx, account, mailbox, rows, stamp);
  await settleMove(tx, weighed, stamp);
  return { uids: rows.map((row) => row.uid), modseq };
}

export type CopyResult =
  | { kind: 'done'; uidValidity: number; from: number[]; to: number[]; modseq: number }
  | { kind: 'missing' }
  | { kind: 'over-quota' }
  | Forbidden;

/** COPY and MOVE within an account. Flags, keywords and INTERNALDATE stay. RFC 6851 3.3. */
export const copyEntries = command('copy-entries', (tx, input: Copying, stamp): Promise<CopyResult> =>
  notedByHand(tx, input, stamp, () => copyOrMove(tx, input, stamp)),
);

interface Copying extends Expunging {
  to: number;
  move: boolean;
}

async function copyOrMove(tx: Write, input: Copying, stamp: Stamp): Promise<CopyResult> {
  const { account, mailbox, to, move, hand } = input;
  const places = await placesOf(tx, account, [mailbox, to]);
  const [source, target] = [places.get(mailbox), places.get(to)];
  if (source === undefined || target === undefined) return { kind: 'missing' };
  const rows = await entriesOf(tx, mailbox, input.uids);
  if (!move && (await overQuota(tx, account, 0))) return { kind: 'over-quota' };
  const emails = rows.map((row) => row.email_id);
  const weighed = await weighMove(tx, { account, emails, into: [to], hand }, stamp);
  if (weighed.kind === 'forbidden') return weighed;
  const modseq = await tx.nextModseq(account);
  // Looked at before anything moves: what only changes its mailbox was never hidden.
  const before = await lookAtThreads(
    tx,
    rows.map((row) => row.thread_id),
  );
  // The old entries go first: then a move within one mailbox does not meet itself.
  if (move && rows.length > 0) await takeEntries(tx, account, mailbox, rows, stamp);
  const uids: number[] = [];
  const said: Parameters<typeof noteSaid>[2][number][] = [];
  for (const row of rows) {
    const email = await emailFor(tx, account, to, row, move);
    const flags = { bits: row.flags, kw: kwList(row.kw) };
    const place = email.alone === true ? addEntry : placeEntry;
    uids.push((await place(tx, to, email, flags, stamp)).uid);
    said.push({ email: email.id, says: saidByMove(source.place, target.place, row.flags) });
  }
  await noteSaid(tx, account, said);
  await settleThreads(tx, before, modseq);
  await settleMove(tx, weighed, stamp);
  return { kind: 'done', uidValidity: target.uidvalidity, from: rows.map((row) => row.uid), to: uids, modseq };
}

/** The email itself, or a copy of it where the target already holds it: JMAP's mailboxIds is a set, IMAP wants a new UID. */
async function emailFor(tx: Write, account: number, to: number, row: EntryRow, move: boolean): Promise<Email> {
  const there = await tx.get('SELECT 1 AS there FROM entry WHERE email_id = ? AND mailbox_id = ?', row.email_id, to);
  if (there !== undefined) return cloneEmail(tx, account, row.email_id);
  if (move) await countAgain(tx, account, row);
  return { id: row.email_id, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
}

/** It stands nowhere, so it was taken out of the quota, and is about to stand somewhere again. */
export async function countAgain(tx: Write, account: number, row: Pick<EntryRow, 'size' | 'email_id'>): Promise<void> {
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

/** APPEND: always a new email. `hand`: whose password brings it, so that an agent's is not taken for a person's. */
export const appendMessage = command(
  'append',
  async (
    tx,
    input: {
      account: number;
      mailbox: number;
      flags: FlagSet;
      receivedAt: number;
      file: { file: string; size: number } | null;
      data: Uint8Array | null;
      index: MessageIndex;
      hand?: Hand | undefined;
    },
    stamp,
  ): Promise<AppendResult> => {
    const { account, mailbox, index, receivedAt } = input;
    if (!(await owns(tx, account, mailbox))) return { kind: 'missing' };
    if (await isForApproval(tx, account, mailbox)) return NOTHING_FROM_OUTSIDE;
    if (await overQuota(tx, account, index.size)) return { kind: 'over-quota' };
    const flags = await storeKeywords(tx, account, input.flags);
    if (flags === undefined) return { kind: 'too-many-keywords' };
    const blob = await addBlob(tx, newBlob(input));
    const by = await agentsName(tx, account, input.hand);
    const email = await addEmail(tx, { account, blob, index, trace: '', receivedAt, by });
    const entry = await addEntry(tx, mailbox, email, flags, stamp);
    return { kind: 'appended', mailbox, ...entry };
  },
);

/** Whatever lies in the mailboxes of {@link isForApproval} was put there by the gate. */
export const NOTHING_FROM_OUTSIDE: Forbidden = {
  kind: 'forbidden',
  why: 'Nothing can be put here: it holds mail that awaits approval, or that a person let go',
};

/** A blob as it crosses threads: its bytes are a top-level field of the input, where the queue's bound sees them. */
export function newBlob(input: { data: Uint8Array | null; file: { file: string; size: number } | null }): NewBlob {
  if (input.data !== null) return { data: input.data };
  if (input.file !== null) return input.file;
  throw new Error('a message without bytes');
}

/** True when the account has no room for this many octets and one message more. */
export async function overQuota(tx: Read, account: number, more: number): Promise<boolean> {
  const row = await tx.get(
    `SELECT 1 AS over FROM account WHERE id = ? AND (used_bytes + ? > quota_bytes OR used_count >= quota_count)`,
    account,
    more,
  );
  return row !== undefined;
}

async function owns(tx: Write, account: number, mailbox: number): Promise<boolean> {
  const row = await tx.get(
    'SELECT 1 AS mine FROM mailbox WHERE id = ? AND account_id = ? AND gone_at IS NULL',
    mailbox,
    account,
  );
  return row !== undefined;
}
