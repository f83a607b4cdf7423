import { faceOf } from './agent-change.ts';
import { changeEach, type ChangeOutcome } from './email-change-commands.ts';
import { command, query, type Read, type Stamp, type Write } from './engine/types.ts';
import { countAgain, overQuota, storeFlagsUnsettled } from './entry-commands.ts';
import { DELETED, type FlagSet, kwList } from './flags.ts';
import { placeEntry } from './message.ts';
import { lookAtThreads, settleThreads } from './shown.ts';
import { missingMailboxes } from './shown-entries.ts';
import { type ChangeRow, type Kept, planUndo, type UndoPlan } from './undo.ts';

/** Emails of one command. */
const SLICE = 25;

export interface Undone {
  /** Emails that are as they were before. */
  undone: number;
  kept: { email: number; why: Kept }[];
  /** There may be more behind this email; null: that was all. */
  next: number | null;
}

/**
 * Undoes what an agent did to emails of an account since a time (ms UTC), a slice of them behind `after`. Of each only
 * what is still as the agent left it; what was undone is forgotten, so that twice is as good as once.
 */
export const undoAgentChanges = command(
  'undo-agent-changes',
  async (tx, input: { account: number; who: string; since: number; after: number }, stamp): Promise<Undone> => {
    const emails = await changedEmails(tx, input);
    const done: Undone = { undone: 0, kept: [], next: emails.length === SLICE ? (emails.at(-1) ?? null) : null };
    for (const email of emails) {
      const kept = await undoOne(tx, { ...input, email }, stamp);
      if (kept.length === 0) done.undone++;
      done.kept.push(...kept.map((why) => ({ email, why })));
    }
    return done;
  },
);

/** Accounts of a tenant in which an agent changed something since. */
export const accountsChangedBy = query(
  'accounts-changed-by',
  async (rx, input: { tenant: number; who: string; since: number }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT a.id FROM account a WHERE a.tenant = ?1 AND a.state <> 2 AND EXISTS
         (SELECT 1 FROM agent_change c WHERE c.account_id = a.id AND c.who = ?2 AND c.at >= ?3) ORDER BY a.id`,
      input.tenant,
      input.who,
      input.since,
    );
    return rows.map(({ id }) => id);
  },
);

interface About {
  account: number;
  who: string;
  since: number;
}

async function changedEmails(rx: Read, { account, who, since, after }: About & { after: number }): Promise<number[]> {
  const rows = await rx.all<{ email: number }>(
    `SELECT DISTINCT email_id AS email FROM agent_change INDEXED BY agent_change_email
     WHERE account_id = ? AND email_id > ? AND who = ? AND at >= ? ORDER BY email_id LIMIT ? + 0`,
    account,
    after,
    who,
    since,
    SLICE,
  );
  return rows.map((row) => row.email);
}

/** Answers what of it stays as it is; nothing: all was undone. */
async function undoOne(tx: Write, about: About & { email: number }, stamp: Stamp): Promise<Kept[]> {
  const { account, email, who, since } = about;
  const rows = await tx.all<ChangeRow>(
    `SELECT * FROM agent_change INDEXED BY agent_change_email
     WHERE account_id = ? AND email_id = ? AND who = ? AND at >= ? ORDER BY seq`,
    account,
    email,
    who,
    since,
  );
  const plan = planUndo(rows, await faceOf(tx, account, email));
  const kept = plan.kept.includes('gone')
    ? plan.kept
    : [...plan.kept, ...(await carryOut(tx, about, rows, plan, stamp))];
  if (kept.length > 0) return kept;
  await tx.run(
    'DELETE FROM agent_change WHERE account_id = ? AND email_id = ? AND who = ? AND at >= ?',
    account,
    email,
    who,
    since,
  );
  return [];
}

/** Answers what could not be done. */
async function carryOut(
  tx: Write,
  { account, email }: { account: number; email: number },
  rows: readonly ChangeRow[],
  { places }: UndoPlan,
  stamp: Stamp,
): Promise<Kept[]> {
  const missing = places === null ? [] : await missingMailboxes(tx, account, places);
  const left = places?.filter((one) => !missing.includes(one)) ?? [];
  const lost: Kept[] = missing.length > 0 ? ['folder-gone'] : [];
  if ((await faceOf(tx, account, email)).places.length === 0) {
    // Better in another folder than lost.
    const to = left.length === 0 ? await inboxOf(tx, account) : left;
    const stopped = await bringBack(tx, account, email, to, stamp);
    if (stopped !== undefined) return [stopped];
  }
  // What came back carries what it had last.
  const { add, remove } = planUndo(rows, await faceOf(tx, account, email));
  const keywords = {
    kind: 'patch',
    add: await named(tx, account, add),
    remove: await named(tx, account, remove),
  } as const;
  const mailboxes = left.length === 0 ? null : ({ kind: 'replace', all: left } as const);
  const [outcome] = await changeEach(tx, { account, changes: [{ email, keywords, mailboxes }] }, stamp);
  return [...lost, ...notDone(outcome)];
}

async function inboxOf(rx: Read, account: number): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT id FROM mailbox WHERE account_id = ? AND role = 'inbox' AND gone_at IS NULL`,
    account,
  );
  return rows.map(({ id }) => id);
}

function notDone(outcome: ChangeOutcome | undefined): Kept[] {
  if (outcome?.kind === 'changed') return [];
  return [outcome?.kind === 'too-many-keywords' ? 'too-many-labels' : 'gone'];
}

/** Slots have names. */
async function named(
  rx: Read,
  account: number,
  { bits, kw }: { bits: number; kw: readonly string[] },
): Promise<FlagSet> {
  const slots = await rx.all<{ slot: number; name: string }>(
    'SELECT slot, name FROM keyword WHERE account_id = ?',
    account,
  );
  const names = slots.filter(({ slot }) => (bits & (1 << slot)) !== 0).map(({ name }) => name);
  return { bits: bits & SYSTEM, keywords: [...names, ...kw] };
}

/** \Seen, \Answered, \Flagged and \Draft. */
const SYSTEM = 15;

/** Puts an email that stands nowhere any more into mailboxes again, with what it carried last. */
async function bringBack(
  tx: Write,
  account: number,
  email: number,
  mailboxes: readonly number[],
  stamp: Stamp,
): Promise<'gone' | 'no-room' | undefined> {
  if (await unmark(tx, account, email)) return undefined;
  const row = await tx.get<Buried>(
    `SELECT e.thread_id, e.size, e.received_at, x.flags, x.kw FROM email e JOIN expunged x ON x.email_id = e.id
     WHERE e.id = ? AND e.account_id = ? AND NOT EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id)
     ORDER BY x.modseq DESC LIMIT 1`,
    email,
    account,
  );
  if (row === undefined) return 'gone';
  if (await overQuota(tx, account, row.size)) return 'no-room';
  const before = await lookAtThreads(tx, [row.thread_id]);
  await countAgain(tx, account, { size: row.size, email_id: email });
  const whole = { id: email, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
  const flags = { bits: row.flags & ~DELETED, kw: kwList(row.kw) };
  let modseq = 0;
  for (const mailbox of mailboxes) ({ modseq } = await placeEntry(tx, mailbox, whole, flags, stamp));
  await settleThreads(tx, before, modseq);
  return undefined;
}

/** What a mail program only marked as \Deleted lies where it was. False: nowhere. */
async function unmark(tx: Write, account: number, email: number): Promise<boolean> {
  const marked = await tx.all<{ mailbox: number; uid: number; thread: number }>(
    `SELECT n.mailbox_id AS mailbox, n.uid, n.thread_id AS thread FROM entry n INDEXED BY entry_email
       CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND n.flags & 16 <> 0 AND m.account_id = ? AND m.gone_at IS NULL`,
    email,
    account,
  );
  const flags = { bits: DELETED, keywords: [] };
  const before = await lookAtThreads(
    tx,
    marked.map(({ thread }) => thread),
  );
  let modseq = 0;
  for (const { mailbox, uid } of marked) {
    const input = { account, mailbox, uids: [uid], how: 'remove', flags, unchangedSince: null } as const;
    const done = await storeFlagsUnsettled(tx, input);
    if (done.kind === 'done') modseq = done.modseq ?? modseq;
  }
  if (modseq > 0) await settleThreads(tx, before, modseq);
  return marked.length > 0;
}

interface Buried extends Record<string, number | string | null> {
  thread_id: number;
  size: number;
  received_at: number;
  flags: number;
  kw: string | null;
}
