import { noted } from './agent-change.ts';
import { type Forbidden, settleMove, weighMove, type Weighed } from './approval-moves.ts';
import { MOST_MAILBOXES_PER_EMAIL } from './email-commands.ts';
import { guarded, type StateMismatch, type StateStep } from './guarded.ts';
import { command, type Stamp, type Write } from './engine/types.ts';
import { type StoreFlagsResult, storeFlagsUnsettled } from './entry-commands.ts';
import { DELETED, type FlagSet, kwList } from './flags.ts';
import { agentsName, type Hand } from './hand.ts';
import { noteSaid, type Place, placesOf, saidByPlaces } from './lesson.ts';
import { entriesOf, placeEntry, takeEntries } from './message.ts';
import { lookAtThreads, settleThreads } from './shown.ts';
import { missingMailboxes, shownEntries } from './shown-entries.ts';

/** The most emails that one of these commands takes; callers cut longer work into slices. */
export const EMAIL_SLICE = 25;

/** What shall become of a set: another one instead of it, or some in and some out. */
export type Change<T> = { kind: 'replace'; all: T } | { kind: 'patch'; add: T; remove: T };

/** A change of one email; null leaves what it is about. */
export interface EmailChange {
  email: number;
  keywords: Change<FlagSet> | null;
  mailboxes: Change<readonly number[]> | null;
}

/** `missing` are mailboxes that do not exist; `in-none` and `in-too-many` are what the change would have led to. */
export type ChangeOutcome =
  | { kind: 'changed' }
  | { kind: 'not-found' }
  | { kind: 'missing'; mailboxes: number[] }
  | { kind: 'in-none' }
  | { kind: 'in-too-many' }
  | { kind: 'too-many-keywords' }
  | Forbidden;

/** Whose emails are changed, and on whose word. */
interface Asked {
  account: number;
  /** The agent that does it: it is written down, to be undone. Null or left out: whoever has the hand. */
  by?: string | null;
  /** Left out: a person's, or the box's own. */
  hand?: Hand | undefined;
}

/**
 * Keywords and mailboxes of emails, one after the other; one that is refused is left as it was. Their threads, which may
 * be long and the same, are looked at once and not for each.
 */
export const changeEmails = command(
  'change-emails',
  async (
    tx,
    input: Asked & { changes: readonly EmailChange[]; ifState: number | null },
    stamp,
  ): Promise<({ kind: 'done'; outcomes: ChangeOutcome[] } & StateStep) | StateMismatch> =>
    guarded(tx, input.account, input.ifState, async () => ({
      kind: 'done',
      outcomes: await changeEach(tx, input, stamp),
    })),
);

/** The same inside of another command. */
export async function changeEach(
  tx: Write,
  input: Asked & { changes: readonly EmailChange[] },
  stamp: Stamp,
): Promise<ChangeOutcome[]> {
  const { account, hand } = input;
  const by = input.by ?? (await agentsName(tx, account, hand));
  const outcomes: ChangeOutcome[] = [];
  const before = await lookAtThreads(tx, await threadsOf(tx, input));
  let last = 0;
  for (const change of input.changes) {
    const about = { account, by, emails: [change.email] };
    const { outcome, modseq } = await noted(tx, about, stamp, () => changeOne(tx, { account, change, hand }, stamp));
    outcomes.push(outcome);
    last = Math.max(last, modseq);
  }
  if (last > 0) await settleThreads(tx, before, last);
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

/** What became of one, and its last mod-sequence; 0 when nothing of it changed. */
interface Changed {
  outcome: ChangeOutcome;
  modseq: number;
}

const left = (outcome: ChangeOutcome): Changed => ({ outcome, modseq: 0 });

async function changeOne(
  tx: Write,
  { account, change, hand }: { account: number; change: EmailChange; hand: Hand | undefined },
  stamp: Stamp,
): Promise<Changed> {
  const entries = await shownEntries(tx, account, [change.email]);
  const [first] = entries;
  if (first === undefined) return left({ kind: 'not-found' });
  const now = entries.map((entry) => entry.mailbox);
  const then = change.mailboxes === null ? now : applied(now, change.mailboxes);
  if (then.length === 0) return left({ kind: 'in-none' });
  if (then.length > MOST_MAILBOXES_PER_EMAIL) return left({ kind: 'in-too-many' });
  const missing = await missingMailboxes(tx, account, then);
  if (missing.length > 0) return left({ kind: 'missing', mailboxes: missing });
  const into = then.filter((mailbox) => !now.includes(mailbox));
  const outOf = entries.filter(({ mailbox }) => !then.includes(mailbox));
  const emails = into.length + outOf.length === 0 ? [] : [change.email];
  const weighed = await weighMove(tx, { account, emails, into, hand }, stamp);
  if (weighed.kind === 'forbidden') return left(weighed);
  const written = change.keywords === null ? 0 : await changeKeywords(tx, { account, hand }, first, change.keywords);
  if (written === undefined) return left({ kind: 'too-many-keywords' });
  const { anew, modseq: shown } = await reveal(tx, account, into, change.email);
  const moved = await move(tx, account, { like: first, anew, outOf, from: now, to: then }, stamp);
  await settleMove(tx, weighed, stamp);
  return { outcome: { kind: 'changed' }, modseq: Math.max(written, shown, moved) };
}

function applied(now: readonly number[], change: Change<readonly number[]>): number[] {
  if (change.kind === 'replace') return [...new Set(change.all)];
  return [...new Set([...now, ...change.add])].filter((mailbox) => !change.remove.includes(mailbox));
}

interface Entry {
  mailbox: number;
  uid: number;
}

/**
 * What is done to one shown entry is written through to all of them; \Deleted of the others stays. Answers the last
 * mod-sequence, 0 when all was so before; undefined when the email would carry too many keywords.
 */
async function changeKeywords(
  tx: Write,
  asked: Pick<Asked, 'account' | 'hand'>,
  { mailbox, uid }: Entry,
  change: Change<FlagSet>,
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
    const stored = await storeFlagsUnsettled(tx, { ...asked, mailbox, uids: [uid], how, flags, unchangedSince: null });
    if (stored.kind === 'too-many-keywords') return undefined;
    last = modseqOf(stored) ?? last;
  }
  return last;
}

const modseqOf = (stored: StoreFlagsResult): number | null => (stored.kind === 'done' ? stored.modseq : null);

/** Where IMAP had marked it as \Deleted the email is shown again. Answers the mailboxes in which it is not at all. */
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
    modseq = modseqOf(await storeFlagsUnsettled(tx, input)) ?? modseq;
  }
  return { anew: mailboxes.filter((mailbox) => !hidden.some(({ mailbox_id: one }) => one === mailbox)), modseq };
}

interface Move {
  /** Where it stands, and as what it comes into the mailboxes `anew`. */
  like: Entry;
  anew: readonly number[];
  outOf: readonly Entry[];
  /** All mailboxes in which it is shown, before and after. */
  from: readonly number[];
  to: readonly number[];
}

/** Answers the last mod-sequence, 0 when it stays where it was. */
async function move(tx: Write, account: number, { like, anew, outOf, from, to }: Move, stamp: Stamp): Promise<number> {
  if (anew.length + outOf.length === 0) return 0;
  const [row] = await entriesOf(tx, like.mailbox, [like.uid]);
  if (row === undefined) throw new Error(`entry ${like.uid} of mailbox ${like.mailbox} is gone`);
  const places = await placesOf(tx, account, [...from, ...to]);
  const placed = (mailboxes: readonly number[]): Place[] => mailboxes.map((one) => places.get(one)?.place ?? null);
  await noteSaid(tx, account, [{ email: row.email_id, says: saidByPlaces(placed(from), placed(to), row.flags) }]);
  const email = { id: row.email_id, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
  const flags = { bits: row.flags, kw: kwList(row.kw) };
  let modseq = 0;
  // In before out: an email that is nowhere for a moment would leave the quota.
  for (const mailbox of anew) ({ modseq } = await placeEntry(tx, mailbox, email, flags, stamp));
  for (const { mailbox, uid } of outOf) {
    modseq = await takeEntries(tx, account, mailbox, await entriesOf(tx, mailbox, [uid]), stamp);
  }
  return modseq;
}

/**
 * Takes emails out of all mailboxes, out of those too where IMAP had marked them as \Deleted; people can have them back
 * as long as what was expunged is kept. Answers those that there were.
 */
export const destroyEmails = command(
  'destroy-emails',
  async (
    tx,
    input: Asked & { emails: readonly number[]; ifState: number | null },
    stamp,
  ): Promise<({ kind: 'done'; destroyed: number[]; kept: Kept[] } & StateStep) | StateMismatch> =>
    guarded(tx, input.account, input.ifState, async () => {
      const { free, kept, touches } = await mayGo(tx, input, stamp);
      const shown = new Set((await shownEntries(tx, input.account, free)).map((entry) => entry.email));
      const entries = await tx.all<{ mailbox_id: number; uid: number; thread_id: number }>(
        `SELECT n.mailbox_id, n.uid, n.thread_id FROM json_each(?) e
           CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.value CROSS JOIN mailbox m ON m.id = n.mailbox_id
         WHERE m.account_id = ? AND m.gone_at IS NULL`,
        JSON.stringify([...shown]),
        input.account,
      );
      if (entries.length === 0) return { kind: 'done', destroyed: [], kept };
      const before = await lookAtThreads(
        tx,
        entries.map((entry) => entry.thread_id),
      );
      const destroyed = [...shown];
      const by = input.by ?? (await agentsName(tx, input.account, input.hand));
      const about = { account: input.account, by, emails: destroyed };
      const modseq = await noted(tx, about, stamp, () => takeAll(tx, input.account, entries, stamp));
      await settleThreads(tx, before, modseq);
      for (const weighed of touches) await settleMove(tx, weighed, stamp);
      return { kind: 'done', destroyed, kept };
    }),
);

async function takeAll(
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

/** An email that was not destroyed, and why. */
export interface Kept {
  email: number;
  why: string;
}

/** Each is weighed alone: one that awaits approval must not keep the others. */
async function mayGo(
  tx: Write,
  { account, emails, hand }: { account: number; emails: readonly number[]; hand?: Hand | undefined },
  stamp: Stamp,
): Promise<{ free: number[]; kept: Kept[]; touches: Weighed[] }> {
  const all = { free: [] as number[], kept: [] as Kept[], touches: [] as Weighed[] };
  for (const email of emails) {
    const weighed = await weighMove(tx, { account, emails: [email], into: [], hand }, stamp);
    if (weighed.kind === 'forbidden') all.kept.push({ email, why: weighed.why });
    else all.free.push(email);
    if (weighed.kind === 'weighed') all.touches.push(weighed);
  }
  return all;
}
