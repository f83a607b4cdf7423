import { MAX_MAILBOXES_PER_EMAIL } from './email-commands.ts';
import { runIfState, type StateMismatch, type StateStep } from '../account/state-guard.ts';
import { type AllowedMove, command, type Forbidden, type Stamp, type Write } from '../engine/types.ts';
import { storeFlagsOnly } from '../mailbox/entry-commands.ts';
import type { StoreFlagsResult } from '../mailbox/flag-change.ts';
import { DELETED, type NamedFlags, kwList } from '../mailbox/flags.ts';
import { agentName, type Actor } from '../actor.ts';
import { recordFlagSamples, type MailboxKind, mailboxKinds, categoryOfMailboxes } from '../filter/training-sample.ts';
import { entriesOf, placeEntry, takeEntries } from './entry.ts';
import { snapshotThreads, updateThreads } from './visibility.ts';
import { missingMailboxes, visibleEntries } from './visible-entries.ts';

/** Maximum emails of one command; callers slice longer work. */
export const MAX_EMAILS = 25;

/** Change of a set: replaced, or patched. */
export type SetChange<T> = { kind: 'replace'; all: T } | { kind: 'patch'; add: T; remove: T };

/** A change of one email; null members stay. */
export interface EmailChange {
  email: number;
  keywords: SetChange<NamedFlags> | null;
  mailboxes: SetChange<readonly number[]> | null;
}

/**
 * `missing`: mailboxes that do not exist; `in-none` and `in-too-many`: the change would violate the number of
 * mailboxes.
 */
export type ChangeOutcome =
  | { kind: 'changed' }
  | { kind: 'not-found' }
  | { kind: 'missing'; mailboxes: number[] }
  | { kind: 'in-none' }
  | { kind: 'in-too-many' }
  | { kind: 'too-many-keywords' }
  | Forbidden;

/** Account and actor of a change. */
interface ChangeRequest {
  account: number;
  /** The agent that makes the change, recorded for undo. Null or undefined: the actor. */
  by?: string | null;
  /** Undefined: a person's, or the server's. */
  actor?: Actor | undefined;
}

/**
 * Changes keywords and mailboxes of emails in order; a refused one stays unchanged. Reads their threads, which may be
 * long and shared, once.
 */
export const changeEmails = command(
  'change-emails',
  async (
    tx,
    input: ChangeRequest & { changes: readonly EmailChange[]; ifState: number | null },
    stamp,
  ): Promise<({ kind: 'done'; outcomes: ChangeOutcome[] } & StateStep) | StateMismatch> =>
    runIfState(tx, input.account, input.ifState, async () => ({
      kind: 'done',
      outcomes: await changeEach(tx, input, stamp),
    })),
);

/** {@link changeEmails} inside of another command. */
export async function changeEach(
  tx: Write,
  input: ChangeRequest & { changes: readonly EmailChange[] },
  stamp: Stamp,
): Promise<ChangeOutcome[]> {
  const { account, actor } = input;
  const by = input.by ?? (await agentName(tx, account, actor));
  const outcomes: ChangeOutcome[] = [];
  const before = await snapshotThreads(tx, await threadsOf(tx, input));
  let last = 0;
  for (const change of input.changes) {
    const about = { account, by, emails: [change.email] };
    const { outcome, modseq } = await tx.hooks.onChange(tx, about, stamp, () =>
      changeOne(tx, { account, change, actor, by }, stamp),
    );
    outcomes.push(outcome);
    last = Math.max(last, modseq);
  }
  if (last > 0) await updateThreads(tx, before, last);
  return outcomes;
}

async function threadsOf(
  tx: Write,
  { account, changes }: { account: number; changes: readonly EmailChange[] },
): Promise<number[]> {
  const rows = await tx.all<{ thread: number }>(
    'SELECT thread_id AS thread FROM email WHERE id IN (SELECT value FROM json_each(?)) AND +account_id = ?',
    JSON.stringify(changes.map((one) => one.email)),
    account,
  );
  return rows.map((row) => row.thread);
}

/** Outcome of one email, and its last mod-sequence; 0 if unchanged. */
interface ChangedEmail {
  outcome: ChangeOutcome;
  modseq: number;
}

const left = (outcome: ChangeOutcome): ChangedEmail => ({ outcome, modseq: 0 });

async function changeOne(
  tx: Write,
  { account, change, actor, by }: Required<ChangeRequest> & { change: EmailChange },
  stamp: Stamp,
): Promise<ChangedEmail> {
  const entries = await visibleEntries(tx, account, [change.email]);
  const [first] = entries;
  if (first === undefined) return left({ kind: 'not-found' });
  const now = entries.map((entry) => entry.mailbox);
  const then = change.mailboxes === null ? now : applyChange(now, change.mailboxes);
  if (then.length === 0) return left({ kind: 'in-none' });
  if (then.length > MAX_MAILBOXES_PER_EMAIL) return left({ kind: 'in-too-many' });
  const missing = await missingMailboxes(tx, account, then);
  if (missing.length > 0) return left({ kind: 'missing', mailboxes: missing });
  const into = then.filter((mailbox) => !now.includes(mailbox));
  const outOf = entries.filter(({ mailbox }) => !then.includes(mailbox));
  const emails = into.length + outOf.length === 0 ? [] : [change.email];
  const weighed = await tx.hooks.beforeMove(tx, { account, emails, into, actor }, stamp);
  if (weighed.kind === 'forbidden') return left(weighed);
  const written =
    change.keywords === null ? 0 : await changeKeywords(tx, { account, actor, by }, first, change.keywords);
  if (written === undefined) return left({ kind: 'too-many-keywords' });
  const { anew, modseq: shown } = await reveal(tx, account, into, change.email);
  const moved = await move(tx, account, { like: first, anew, outOf, from: now, to: then }, stamp);
  await weighed.settle(tx, stamp);
  return { outcome: { kind: 'changed' }, modseq: Math.max(written, shown, moved) };
}

function applyChange(now: readonly number[], change: SetChange<readonly number[]>): number[] {
  if (change.kind === 'replace') return [...new Set(change.all)];
  return [...new Set([...now, ...change.add])].filter((mailbox) => !change.remove.includes(mailbox));
}

interface Entry {
  mailbox: number;
  uid: number;
}

/**
 * Applies a keyword change to all visible entries; \Deleted of the others stays. Returns the last mod-sequence, 0 if
 * unchanged; undefined if the email would have too many keywords.
 */
async function changeKeywords(
  tx: Write,
  requested: ChangeRequest,
  { mailbox, uid }: Entry,
  change: SetChange<NamedFlags>,
): Promise<number | undefined> {
  const steps =
    change.kind === 'replace'
      ? ([['replace', change.all]] as const)
      : ([
          ['add', change.add],
          ['remove', change.remove],
        ] as const);
  let last = 0;
  for (const [how, flags] of steps) {
    if (how !== 'replace' && flags.bits === 0 && flags.keywords.length === 0) continue;
    const stored = await storeFlagsOnly(tx, { ...requested, mailbox, uids: [uid], how, flags, unchangedSince: null });
    if (stored.kind === 'too-many-keywords') return undefined;
    last = modseqOf(stored) ?? last;
  }
  return last;
}

const modseqOf = (stored: StoreFlagsResult): number | null => (stored.kind === 'done' ? stored.modseq : null);

/** Makes entries with \Deleted visible again. Returns the mailboxes without an entry. */
async function reveal(
  tx: Write,
  account: number,
  mailboxes: readonly number[],
  email: number,
): Promise<{ anew: number[]; modseq: number }> {
  if (mailboxes.length === 0) return { anew: [], modseq: 0 };
  const hidden = await tx.all<{ mailbox_id: number; uid: number }>(
    `SELECT mailbox_id, uid FROM entry INDEXED BY entry_email WHERE email_id = ?
       AND mailbox_id IN (SELECT value FROM json_each(?))`,
    email,
    JSON.stringify(mailboxes),
  );
  const flags = { bits: DELETED, keywords: [] };
  let modseq = 0;
  for (const { mailbox_id: mailbox, uid } of hidden) {
    const input = { account, mailbox, uids: [uid], how: 'remove', flags, unchangedSince: null } as const;
    modseq = modseqOf(await storeFlagsOnly(tx, input)) ?? modseq;
  }
  return { anew: mailboxes.filter((mailbox) => !hidden.some(({ mailbox_id: one }) => one === mailbox)), modseq };
}

interface Move {
  /** An existing entry, whose flags the new entries in `anew` get. */
  like: Entry;
  anew: readonly number[];
  outOf: readonly Entry[];
  /** All visible mailboxes, before and after. */
  from: readonly number[];
  to: readonly number[];
}

/** Moves the email. Returns the last mod-sequence, 0 if unchanged. */
async function move(tx: Write, account: number, { like, anew, outOf, from, to }: Move, stamp: Stamp): Promise<number> {
  if (anew.length + outOf.length === 0) return 0;
  const [row] = await entriesOf(tx, like.mailbox, [like.uid]);
  if (row === undefined) throw new Error(`entry ${like.uid} of mailbox ${like.mailbox} does not exist`);
  const entries = await mailboxKinds(tx, account, [...from, ...to]);
  const placed = (mailboxes: readonly number[]): MailboxKind[] =>
    mailboxes.map((one) => entries.get(one)?.place ?? null);
  await recordFlagSamples(tx, account, [
    { email: row.email_id, says: categoryOfMailboxes(placed(from), placed(to), row.flags) },
  ]);
  const email = { id: row.email_id, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
  const flags = { bits: row.flags, kw: kwList(row.kw) };
  let modseq = 0;
  // Adds before it removes: an email without entries would leave the quota.
  for (const mailbox of anew) ({ modseq } = await placeEntry(tx, mailbox, email, flags, stamp));
  for (const { mailbox, uid } of outOf) {
    modseq = await takeEntries(tx, account, mailbox, await entriesOf(tx, mailbox, [uid]), stamp);
  }
  return modseq;
}

/**
 * Removes emails from all mailboxes, including entries with \Deleted; people can restore them during the retention of
 * expunged messages. Returns those that existed.
 */
export const destroyEmails = command(
  'destroy-emails',
  async (
    tx,
    input: ChangeRequest & { emails: readonly number[]; ifState: number | null },
    stamp,
  ): Promise<({ kind: 'done'; destroyed: number[]; kept: UndestroyedEmail[] } & StateStep) | StateMismatch> =>
    runIfState(tx, input.account, input.ifState, async () => ({
      kind: 'done',
      ...(await destroyEach(tx, { ...input, within: null }, stamp)),
    })),
);

/** {@link destroyEmails} inside of another command; `within`: the mailboxes that they leave, null for all. */
export async function destroyEach(
  tx: Write,
  input: ChangeRequest & { emails: readonly number[]; within: readonly number[] | null },
  stamp: Stamp,
): Promise<{ destroyed: number[]; kept: UndestroyedEmail[] }> {
  const { account, within } = input;
  const { free, kept, touches } = await checkDestroyable(tx, input, stamp);
  const shown = new Set((await visibleEntries(tx, account, free)).map((entry) => entry.email));
  const entries = await tx.all<{ mailbox_id: number; uid: number; thread_id: number }>(
    `SELECT n.mailbox_id, n.uid, n.thread_id FROM json_each(?1) e
       CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.value CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE m.account_id = ?2 AND m.deleted_at IS NULL
       AND (?3 IS NULL OR n.mailbox_id IN (SELECT value FROM json_each(?3)))`,
    JSON.stringify([...shown]),
    account,
    within === null ? null : JSON.stringify(within),
  );
  if (entries.length === 0) return { destroyed: [], kept };
  const before = await snapshotThreads(
    tx,
    entries.map((entry) => entry.thread_id),
  );
  const destroyed = [...shown];
  const by = input.by ?? (await agentName(tx, account, input.actor));
  const about = { account, by, emails: destroyed };
  const modseq = await tx.hooks.onChange(tx, about, stamp, () => removeFromAll(tx, account, entries, stamp));
  await updateThreads(tx, before, modseq);
  for (const weighed of touches) await weighed.settle(tx, stamp);
  return { destroyed, kept };
}

async function removeFromAll(
  tx: Write,
  account: number,
  entries: readonly { mailbox_id: number; uid: number }[],
  stamp: Stamp,
): Promise<number> {
  let modseq = 0;
  for (const [mailbox, some] of Map.groupBy(entries, (entry) => entry.mailbox_id)) {
    const uids = some.map((entry) => entry.uid);
    modseq = await takeEntries(tx, account, mailbox, await entriesOf(tx, mailbox, uids), stamp);
  }
  return modseq;
}

/** An email that was not destroyed, and the reason. */
export interface UndestroyedEmail {
  email: number;
  why: string;
}

/** Each is checked separately: one that awaits approval must not block the others. */
async function checkDestroyable(
  tx: Write,
  { account, emails, actor }: { account: number; emails: readonly number[]; actor?: Actor | undefined },
  stamp: Stamp,
): Promise<{ free: number[]; kept: UndestroyedEmail[]; touches: AllowedMove[] }> {
  const all = { free: [] as number[], kept: [] as UndestroyedEmail[], touches: [] as AllowedMove[] };
  for (const email of emails) {
    const weighed = await tx.hooks.beforeMove(tx, { account, emails: [email], into: [], actor }, stamp);
    if (weighed.kind === 'forbidden') all.kept.push({ email, why: weighed.why });
    else all.free.push(email);
    if (weighed.kind === 'allowed') all.touches.push(weighed);
  }
  return all;
}
