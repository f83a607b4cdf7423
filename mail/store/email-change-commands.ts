import { MOST_MAILBOXES_PER_EMAIL } from './email-commands.ts';
import { guarded, type StateMismatch, type StateStep } from './email-state.ts';
import { command, type Stamp, type Write } from './engine/types.ts';
import { storeFlags } from './entry-commands.ts';
import { DELETED, type FlagSet, kwList } from './flags.ts';
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
  | { kind: 'too-many-keywords' };

/** Keywords and mailboxes of emails, one after the other; one that is refused is left as it was. */
export const changeEmails = command(
  'change-emails',
  async (
    tx,
    input: { account: number; changes: readonly EmailChange[]; ifState: number | null },
    stamp,
  ): Promise<({ kind: 'done'; outcomes: ChangeOutcome[] } & StateStep) | StateMismatch> =>
    guarded(tx, input.account, input.ifState, async () => {
      const outcomes: ChangeOutcome[] = [];
      for (const change of input.changes) outcomes.push(await changeOne(tx, input.account, change, stamp));
      return { kind: 'done', outcomes };
    }),
);

async function changeOne(tx: Write, account: number, change: EmailChange, stamp: Stamp): Promise<ChangeOutcome> {
  const entries = await shownEntries(tx, account, [change.email]);
  const [first] = entries;
  if (first === undefined) return { kind: 'not-found' };
  const now = entries.map((entry) => entry.mailbox);
  const then = change.mailboxes === null ? now : applied(now, change.mailboxes);
  if (then.length === 0) return { kind: 'in-none' };
  if (then.length > MOST_MAILBOXES_PER_EMAIL) return { kind: 'in-too-many' };
  const missing = await missingMailboxes(tx, account, then);
  if (missing.length > 0) return { kind: 'missing', mailboxes: missing };
  if (change.keywords !== null && !(await changeKeywords(tx, account, first, change.keywords, stamp))) {
    return { kind: 'too-many-keywords' };
  }
  const into = then.filter((mailbox) => !now.includes(mailbox));
  const outOf = entries.filter(({ mailbox }) => !then.includes(mailbox));
  const anew = await reveal(tx, account, into, change.email, stamp);
  await move(tx, account, { like: first, anew, outOf, from: now, to: then }, stamp);
  return { kind: 'changed' };
}

function applied(now: readonly number[], change: Change<readonly number[]>): number[] {
  if (change.kind === 'replace') return [...new Set(change.all)];
  return [...new Set([...now, ...change.add])].filter((mailbox) => !change.remove.includes(mailbox));
}

interface Entry {
  mailbox: number;
  uid: number;
}

/** What is done to one shown entry is written through to all of them; \Deleted of the others stays. */
async function changeKeywords(
  tx: Write,
  account: number,
  { mailbox, uid }: Entry,
  change: Change<FlagSet>,
  stamp: Stamp,
): Promise<boolean> {
  const steps =
    change.kind === 'replace'
      ? ([['replace', change.all]] as const)
      : ([
          ['add', change.add],
          ['remove', change.remove],
        ] as const);
  for (const [how, flags] of steps) {
    if (how !== 'replace' && flags.bits === 0 && flags.keywords.length === 0) continue;
    const input = { account, mailbox, uids: [uid], how, flags, unchangedSince: null };
    if ((await storeFlags.run(tx, input, stamp)).kind === 'too-many-keywords') return false;
  }
  return true;
}

/** Where IMAP had marked it as \Deleted the email is shown again. Answers the mailboxes in which it is not at all. */
async function reveal(
  tx: Write,
  account: number,
  mailboxes: readonly number[],
  email: number,
  stamp: Stamp,
): Promise<number[]> {
  if (mailboxes.length === 0) return [];
  const hidden = await tx.all<{ mailbox_id: number; uid: number }>(
    `SELECT mailbox_id, uid FROM entry INDEXED BY entry_email WHERE email_id = ?
       AND mailbox_id IN (SELECT value FROM json_each(?))`,
    email,
    JSON.stringify(mailboxes),
  );
  const flags = { bits: DELETED, keywords: [] };
  for (const { mailbox_id: mailbox, uid } of hidden) {
    const input = { account, mailbox, uids: [uid], how: 'remove', flags, unchangedSince: null } as const;
    await storeFlags.run(tx, input, stamp);
  }
  return mailboxes.filter((mailbox) => !hidden.some(({ mailbox_id: one }) => one === mailbox));
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

/** The thread, which may be long, is looked at once and not for each mailbox. */
async function move(tx: Write, account: number, { like, anew, outOf, from, to }: Move, stamp: Stamp): Promise<void> {
  const [row] = await entriesOf(tx, like.mailbox, [like.uid]);
  if (row === undefined) throw new Error(`entry ${like.uid} of mailbox ${like.mailbox} is gone`);
  if (anew.length + outOf.length === 0) return;
  const places = await placesOf(tx, account, [...from, ...to]);
  const placed = (mailboxes: readonly number[]): Place[] => mailboxes.map((one) => places.get(one)?.place ?? null);
  await noteSaid(tx, account, [{ email: row.email_id, says: saidByPlaces(placed(from), placed(to), row.flags) }]);
  const before = await lookAtThreads(tx, [row.thread_id]);
  const email = { id: row.email_id, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
  const flags = { bits: row.flags, kw: kwList(row.kw) };
  let modseq = 0;
  // In before out: an email that is nowhere for a moment would leave the quota.
  for (const mailbox of anew) ({ modseq } = await placeEntry(tx, mailbox, email, flags, stamp));
  for (const { mailbox, uid } of outOf) {
    modseq = await takeEntries(tx, account, mailbox, await entriesOf(tx, mailbox, [uid]), stamp);
  }
  await settleThreads(tx, before, modseq);
}

/**
 * Takes emails out of all mailboxes, out of those too where IMAP had marked them as \Deleted; people can have them back
 * as long as what was expunged is kept. Answers those that there were.
 */
export const destroyEmails = command(
  'destroy-emails',
  async (
    tx,
    input: { account: number; emails: readonly number[]; ifState: number | null },
    stamp,
  ): Promise<({ kind: 'done'; destroyed: number[] } & StateStep) | StateMismatch> =>
    guarded(tx, input.account, input.ifState, async () => {
      const shown = new Set((await shownEntries(tx, input.account, input.emails)).map((entry) => entry.email));
      const entries = await tx.all<{ mailbox_id: number; uid: number; thread_id: number }>(
        `SELECT n.mailbox_id, n.uid, n.thread_id FROM json_each(?) e
           CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.value CROSS JOIN mailbox m ON m.id = n.mailbox_id
         WHERE m.account_id = ? AND m.gone_at IS NULL`,
        JSON.stringify([...shown]),
        input.account,
      );
      if (entries.length === 0) return { kind: 'done', destroyed: [] };
      const before = await lookAtThreads(
        tx,
        entries.map((entry) => entry.thread_id),
      );
      let modseq = 0;
      for (const [mailbox, some] of Map.groupBy(entries, (entry) => entry.mailbox_id)) {
        const uids = some.map((entry) => entry.uid);
        modseq = await takeEntries(tx, input.account, mailbox, await entriesOf(tx, mailbox, uids), stamp);
      }
      await settleThreads(tx, before, modseq);
      return { kind: 'done', destroyed: [...shown] };
    }),
);
