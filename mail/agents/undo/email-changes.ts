import { command, type Read, type Stamp, type Write } from '../../store/engine/types.ts';
import { markKeywords } from '../taint/content.ts';
import { DELETED, FIRST_SLOT, kwList, kwText, type StoredFlags } from '../../store/mailbox/flags.ts';

/** Retention of agents' changes. */
export const CHANGE_RETENTION_MS = 30 * 24 * 3600_000;
/** Changes of one account; older ones are dropped. */
export const MAX_CHANGES = 20_000;
/** Rows of one slice. */
const SLICE = 200;

/** The state of an email that can change: its flags, and the mailboxes that show it, in ascending order. */
export interface EmailState extends StoredFlags {
  mailboxes: readonly number[];
}

/** Reads the state of an email; in no mailbox, not even marked as \Deleted, it has no flags. */
export async function emailStateOf(rx: Read, account: number, email: number): Promise<EmailState> {
  const rows = await rx.all<{ mailbox_id: number; flags: number; kw: string | null }>(
    `SELECT n.mailbox_id, n.flags, n.kw FROM entry n INDEXED BY entry_email CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND m.account_id = ? AND m.deleted_at IS NULL ORDER BY n.mailbox_id`,
    email,
    account,
  );
  const [first] = rows;
  const mailboxes = rows.filter(({ flags }) => (flags & DELETED) === 0).map((row) => row.mailbox_id);
  return { bits: (first?.flags ?? 0) & ~DELETED, kw: kwList(first?.kw ?? null), mailboxes };
}

async function isInNoMailbox(rx: Read, email: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS there FROM entry WHERE email_id = ? LIMIT 1', email)) === undefined;
}

/**
 * Records an agent's change to an email, in the commit of the change; `was` is the state right before. Records nothing if
 * nothing changed.
 */
export async function recordAgentChange(
  tx: Write,
  { account, by, email, was }: { account: number; by: string; email: number; was: EmailState },
  stamp: Stamp,
): Promise<void> {
  const now = await emailStateOf(tx, account, email);
  const differs = was.bits !== now.bits || kwText(was) !== kwText(now);
  // An email in no mailbox has no flags: that is no change of flags.
  const flagged = differs && !(await isInNoMailbox(tx, email));
  const moved = !sameMailboxes(was.mailboxes, now.mailboxes);
  if (!flagged && !moved) return;
  const named = kwText(was) !== kwText(now) || (was.bits ^ now.bits) >>> FIRST_SLOT !== 0;
  if (named) await markKeywords(tx, { account, by, email });
  const last = await tx.get<{ seq: number }>(
    'SELECT seq FROM agent_change WHERE account_id = ? ORDER BY seq DESC LIMIT 1',
    account,
  );
  const seq = (last?.seq ?? 0) + 1;
  await tx.run(
    `INSERT INTO agent_change (account_id, seq, actor, at, email_id, flags_before, flags_after, kw_before, kw_after,
       mailboxes_before, mailboxes_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    seq,
    by,
    stamp.now,
    email,
    flagged ? was.bits : null,
    flagged ? now.bits : null,
    flagged ? kwText(was) : null,
    flagged ? kwText(now) : null,
    moved ? JSON.stringify(was.mailboxes) : null,
    moved ? JSON.stringify(now.mailboxes) : null,
  );
  await tx.run('DELETE FROM agent_change WHERE account_id = ? AND seq <= ?', account, seq - MAX_CHANGES);
}

/** Makes a change of emails, and records it if an agent makes it. */
export async function onChange<T>(
  tx: Write,
  { account, by, emails }: { account: number; by: string | null | undefined; emails: readonly number[] },
  stamp: Stamp,
  change: () => Promise<T>,
): Promise<T> {
  if (typeof by !== 'string') return change();
  const states: EmailState[] = [];
  for (const email of emails) states.push(await emailStateOf(tx, account, email));
  const done = await change();
  for (const [i, was] of states.entries()) {
    await recordAgentChange(tx, { account, by, email: emails[i] ?? 0, was }, stamp);
  }
  return done;
}

export function sameMailboxes(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

/** Purges a slice of changes that are too old to undo. */
export const purgeAgentChanges = command('purge-agent-changes', async (tx, _: undefined, { now }): Promise<boolean> => {
  const before = now - CHANGE_RETENTION_MS;
  const mail = await tx.run(
    `DELETE FROM agent_change WHERE (account_id, seq) IN
         (SELECT account_id, seq FROM agent_change WHERE at < ? ORDER BY at LIMIT ?)`,
    before,
    SLICE,
  );
  const rules = await tx.run(
    'DELETE FROM agent_rule_change WHERE id IN (SELECT id FROM agent_rule_change WHERE at < ? ORDER BY at LIMIT ?)',
    before,
    SLICE,
  );
  return [mail, rules].some(({ changes }) => changes === SLICE);
});
