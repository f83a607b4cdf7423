import { emailStateOf } from './email-changes.ts';
import { changeEach, type ChangeOutcome } from '../../store/message/email-change-commands.ts';
import { command, lookup, type Read, type Stamp, type Write } from '../../store/engine/types.ts';
import { restoreToQuota, overQuota, storeFlagsOnly } from '../../store/mailbox/entry-commands.ts';
import { DELETED, type NamedFlags, kwList } from '../../store/mailbox/flags.ts';
import { placeEntry } from '../../store/message/entry.ts';
import { snapshotThreads, updateThreads } from '../../store/message/visibility.ts';
import { missingMailboxes } from '../../store/message/visible-entries.ts';
import { type ChangeRow, type UndoObstacle, planUndo, type UndoPlan } from './plan.ts';
import { IN_THREAD } from '../../store/message/in-thread.ts';

/** Emails a command. */
const SLICE = 25;

export interface UndoResult {
  /** Emails that were restored. */
  undone: number;
  kept: { email: number; why: UndoObstacle }[];
  /** There may be more after this email; null: none. */
  next: number | null;
}

/**
 * Undoes an agent's changes to emails of an account since a time (ms UTC), a slice of them after `after`; only what is still
 * as the agent left it. Undone changes are deleted, so this is idempotent. `thread`: only of its emails.
 */
export const undoAgentChanges = command(
  'undo-agent-changes',
  async (
    tx,
    input: { account: number; who: string; since: number; after: number; thread?: number },
    stamp,
  ): Promise<UndoResult> => {
    const emails = await changedEmails(tx, input);
    const done: UndoResult = { undone: 0, kept: [], next: emails.length === SLICE ? (emails.at(-1) ?? null) : null };
    for (const email of emails) {
      const kept = await undoEmail(tx, { ...input, email }, stamp);
      if (kept.length === 0) done.undone++;
      done.kept.push(...kept.map((why) => ({ email, why })));
    }
    return done;
  },
);

/** Accounts of a tenant in which an agent changed something since a time. */
export const accountsChangedBy = lookup(
  'accounts-changed-by',
  async (rx, input: { tenant: number; who: string; since: number }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT a.id FROM account a WHERE a.tenant = ?1 AND a.state < 2 AND EXISTS
         (SELECT 1 FROM agent_change c WHERE c.account_id = a.id AND c.actor = ?2 AND c.at >= ?3) ORDER BY a.id`,
      input.tenant,
      input.who,
      input.since,
    );
    return rows.map(({ id }) => id);
  },
);

interface ChangeScope {
  account: number;
  who: string;
  since: number;
}

async function changedEmails(
  rx: Read,
  { account, who, since, after, thread = null }: ChangeScope & { after: number; thread?: number | null },
): Promise<number[]> {
  const rows = await rx.all<{ email: number }>(
    `SELECT DISTINCT email_id AS email FROM agent_change INDEXED BY agent_change_email
     WHERE account_id = ?1 AND email_id > ?2 AND actor = ?3 AND at >= ?4
       AND (?6 IS NULL OR email_id IN (SELECT e.id FROM (SELECT CAST(?6 AS INTEGER) AS value) t CROSS JOIN email e ON ${IN_THREAD})) ORDER BY email_id LIMIT ?5 + 0`,
    account,
    after,
    who,
    since,
    SLICE,
    thread,
  );
  return rows.map((row) => row.email);
}

/** Undoes all changes to one email; returns the reasons why something stays as it is. */
async function undoEmail(tx: Write, about: ChangeScope & { email: number }, stamp: Stamp): Promise<UndoObstacle[]> {
  const { account, email, who, since } = about;
  const rows = await tx.all<ChangeRow>(
    `SELECT * FROM agent_change INDEXED BY agent_change_email
     WHERE account_id = ? AND email_id = ? AND actor = ? AND at >= ? ORDER BY seq`,
    account,
    email,
    who,
    since,
  );
  const plan = planUndo(rows, await emailStateOf(tx, account, email));
  const kept = plan.kept.includes('gone')
    ? plan.kept
    : [...plan.kept, ...(await applyPlan(tx, about, rows, plan, stamp))];
  if (kept.length > 0) return kept;
  await tx.run(
    'DELETE FROM agent_change WHERE account_id = ? AND email_id = ? AND actor = ? AND at >= ?',
    account,
    email,
    who,
    since,
  );
  return [];
}

/** Applies a plan; returns the reasons why something could not be done. */
async function applyPlan(
  tx: Write,
  { account, email }: { account: number; email: number },
  rows: readonly ChangeRow[],
  { mailboxes: target }: UndoPlan,
  stamp: Stamp,
): Promise<UndoObstacle[]> {
  const missing = target === null ? [] : await missingMailboxes(tx, account, target);
  const existing = target?.filter((one) => !missing.includes(one)) ?? [];
  const obstacles: UndoObstacle[] = missing.length > 0 ? ['folder-gone'] : [];
  if ((await emailStateOf(tx, account, email)).mailboxes.length === 0) {
    // Better in another folder than lost.
    const to = existing.length === 0 ? await inboxOf(tx, account) : existing;
    const stopped = await restoreExpunged(tx, account, email, to, stamp);
    if (stopped !== undefined) return [stopped];
  }
  // A restored email has its last flags.
  const { add, remove } = planUndo(rows, await emailStateOf(tx, account, email));
  const keywords = {
    kind: 'patch',
    add: await namedFlags(tx, account, add),
    remove: await namedFlags(tx, account, remove),
  } as const;
  const mailboxes = existing.length === 0 ? null : ({ kind: 'replace', all: existing } as const);
  const [outcome] = await changeEach(tx, { account, changes: [{ email, keywords, mailboxes }] }, stamp);
  return [...obstacles, ...obstaclesOf(outcome)];
}

async function inboxOf(rx: Read, account: number): Promise<number[]> {
  const rows = await rx.all<{ id: number }>(
    `SELECT id FROM mailbox WHERE account_id = ? AND role = 'inbox' AND deleted_at IS NULL`,
    account,
  );
  return rows.map(({ id }) => id);
}

function obstaclesOf(outcome: ChangeOutcome | undefined): UndoObstacle[] {
  if (outcome?.kind === 'changed') return [];
  return [outcome?.kind === 'too-many-keywords' ? 'too-many-labels' : 'gone'];
}

/** Names the keyword slots. */
async function namedFlags(
  rx: Read,
  account: number,
  { bits, kw }: { bits: number; kw: readonly string[] },
): Promise<NamedFlags> {
  const slots = await rx.all<{ slot: number; name: string }>(
    'SELECT slot, name FROM keyword WHERE account_id = ?',
    account,
  );
  const names = slots.filter(({ slot }) => (bits & (1 << slot)) !== 0).map(({ name }) => name);
  return { bits: bits & SYSTEM, keywords: [...names, ...kw] };
}

/** \Seen, \Answered, \Flagged and \Draft. */
const SYSTEM = 15;

/** Puts an email that is in no mailbox into mailboxes again, with its last flags. */
async function restoreExpunged(
  tx: Write,
  account: number,
  email: number,
  mailboxes: readonly number[],
  stamp: Stamp,
): Promise<'gone' | 'no-room' | undefined> {
  if (await unmark(tx, account, email)) return undefined;
  const row = await tx.get<ExpungedRow>(
    `SELECT e.thread_id, e.size, e.received_at, x.flags, x.kw FROM email e JOIN expunged x ON x.email_id = e.id
     WHERE e.id = ? AND e.account_id = ? AND NOT EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id)
     ORDER BY x.modseq DESC LIMIT 1`,
    email,
    account,
  );
  if (row === undefined) return 'gone';
  if (await overQuota(tx, account, row.size)) return 'no-room';
  const before = await snapshotThreads(tx, [row.thread_id]);
  await restoreToQuota(tx, account, { size: row.size, email_id: email });
  const whole = { id: email, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
  const flags = { bits: row.flags & ~DELETED, kw: kwList(row.kw) };
  let modseq = 0;
  for (const mailbox of mailboxes) ({ modseq } = await placeEntry(tx, mailbox, whole, flags, stamp));
  await updateThreads(tx, before, modseq);
  return undefined;
}

/** Removes \Deleted from an email where a mail program only marked it. False: it is in no mailbox. */
async function unmark(tx: Write, account: number, email: number): Promise<boolean> {
  const marked = await tx.all<{ mailbox: number; uid: number; thread: number }>(
    `SELECT n.mailbox_id AS mailbox, n.uid, n.thread_id AS thread FROM entry n INDEXED BY entry_email
       CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND n.flags & 16 <> 0 AND m.account_id = ? AND m.deleted_at IS NULL`,
    email,
    account,
  );
  const flags = { bits: DELETED, keywords: [] };
  const before = await snapshotThreads(
    tx,
    marked.map(({ thread }) => thread),
  );
  let modseq = 0;
  for (const { mailbox, uid } of marked) {
    const input = { account, mailbox, uids: [uid], how: 'remove', flags, unchangedSince: null } as const;
    const done = await storeFlagsOnly(tx, input);
    if (done.kind === 'done') modseq = done.modseq ?? modseq;
  }
  if (modseq > 0) await updateThreads(tx, before, modseq);
  return marked.length > 0;
}

interface ExpungedRow extends Record<string, number | string | null> {
  thread_id: number;
  size: number;
  received_at: number;
  flags: number;
  kw: string | null;
}
