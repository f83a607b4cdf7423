import { command, type Read, type Stamp, type Write } from './engine/types.ts';
import { DELETED, kwList, kwText, type StoredFlags } from './flags.ts';

/** What agents did can be undone for so long. */
export const KEEP_CHANGES_MS = 30 * 24 * 3600_000;
/** Of one account; older ones make room. */
export const MOST_CHANGES = 20_000;
/** Rows of one slice. */
const SLICE = 200;

/** What may be changed of an email: what it carries, and the mailboxes that show it, in ascending order. */
export interface Face extends StoredFlags {
  places: readonly number[];
}

/** What is shown of an email now; where it stands nowhere, not even marked as \Deleted, it carries nothing. */
export async function faceOf(rx: Read, account: number, email: number): Promise<Face> {
  const rows = await rx.all<{ mailbox_id: number; flags: number; kw: string | null }>(
    `SELECT n.mailbox_id, n.flags, n.kw FROM entry n INDEXED BY entry_email CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND m.account_id = ? AND m.gone_at IS NULL ORDER BY n.mailbox_id`,
    email,
    account,
  );
  const [first] = rows;
  const places = rows.filter(({ flags }) => (flags & DELETED) === 0).map((row) => row.mailbox_id);
  return { bits: (first?.flags ?? 0) & ~DELETED, kw: kwList(first?.kw ?? null), places };
}

async function standsNowhere(rx: Read, email: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS there FROM entry WHERE email_id = ? LIMIT 1', email)) === undefined;
}

/**
 * Writes down what an agent did to an email, in the commit in which it does it; `was` is from right before. Nothing is
 * written where nothing changed.
 */
export async function noteAgentChange(
  tx: Write,
  { account, by, email, was }: { account: number; by: string; email: number; was: Face },
  stamp: Stamp,
): Promise<void> {
  const now = await faceOf(tx, account, email);
  const differs = was.bits !== now.bits || kwText(was) !== kwText(now);
  // What stands nowhere carries nothing: that says nothing about its flags.
  const flagged = differs && !(await standsNowhere(tx, email));
  const moved = !samePlaces(was.places, now.places);
  if (!flagged && !moved) return;
  const last = await tx.get<{ seq: number }>(
    'SELECT seq FROM agent_change WHERE account_id = ? ORDER BY seq DESC LIMIT 1',
    account,
  );
  const seq = (last?.seq ?? 0) + 1;
  await tx.run(
    `INSERT INTO agent_change (account_id, seq, who, at, email_id, flags_before, flags_after, kw_before, kw_after,
       places_before, places_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    account,
    seq,
    by,
    stamp.now,
    email,
    flagged ? was.bits : null,
    flagged ? now.bits : null,
    flagged ? kwText(was) : null,
    flagged ? kwText(now) : null,
    moved ? JSON.stringify(was.places) : null,
    moved ? JSON.stringify(now.places) : null,
  );
  await tx.run('DELETE FROM agent_change WHERE account_id = ? AND seq <= ?', account, seq - MOST_CHANGES);
}

/** Runs a change of emails and writes down what it did, where an agent does it. */
export async function noted<T>(
  tx: Write,
  { account, by, emails }: { account: number; by: string | null | undefined; emails: readonly number[] },
  stamp: Stamp,
  change: () => Promise<T>,
): Promise<T> {
  if (typeof by !== 'string') return change();
  const faces: Face[] = [];
  for (const email of emails) faces.push(await faceOf(tx, account, email));
  const done = await change();
  for (const [i, was] of faces.entries()) {
    await noteAgentChange(tx, { account, by, email: emails[i] ?? 0, was }, stamp);
  }
  return done;
}

export function samePlaces(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}

/** Forgets a slice of what can be undone no more. */
export const forgetAgentChanges = command(
  'forget-agent-changes',
  async (tx, _: undefined, { now }): Promise<boolean> => {
    const before = now - KEEP_CHANGES_MS;
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
  },
);
