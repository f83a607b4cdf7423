import { command, query, type Read, type Stamp, type Write } from './engine/types.ts';
import { holdsApprovals, isForApproval } from './approval-places.ts';
import { agentsName, type Hand } from './hand.ts';
import { type EntryRow, takeEntries } from './message.ts';
import { lookAtThreads, settleThreads } from './shown.ts';
import { forgetThreadCounts } from './thread-counts.ts';

export type MailboxRole = 'inbox' | 'drafts' | 'sent' | 'junk' | 'trash' | 'archive';

/** What every account has from the start, so that no client makes a second Sent or Trash. RFC 6154. */
const FIRST_MAILBOXES: readonly [string, MailboxRole][] = [
  ['INBOX', 'inbox'],
  ['Drafts', 'drafts'],
  ['Sent', 'sent'],
  ['Junk', 'junk'],
  ['Trash', 'trash'],
  ['Archive', 'archive'],
];

const MOST_MAILBOXES = 2_000;
/** Levels of a name. */
export const DEEPEST = 20;
/** Octets of a whole name: clients could not name what is longer. */
export const LONGEST = 1_000;
/** Messages of a mailbox that go with it in the same command; more leave in slices. */
const GO_AT_ONCE = 200;

/** One mailbox as LIST and STATUS see it. */
export interface MailboxInfo {
  id: number;
  /** Full name with '/' between levels. */
  name: string;
  role: MailboxRole | null;
  subscribed: boolean;
  hasChildren: boolean;
  uidValidity: number;
  uidNext: number;
  total: number;
  unseen: number;
  deleted: number;
  bytes: number;
  highestModseq: number;
}

interface MailboxRow extends Record<string, string | number | null> {
  id: number;
  parent_id: number;
  name: string;
  role: MailboxRole | null;
  subscribed: number;
  uidvalidity: number;
  uidnext: number;
  total: number;
  unseen: number;
  deleted: number;
  bytes: number;
  highestmodseq: number;
}

/** All mailboxes of an account with their full names, in no order that means anything. */
export const listMailboxes = query('list-mailboxes', async (rx, input: { account: number }): Promise<MailboxInfo[]> => {
  const rows = await rx.all<MailboxRow>(
    `SELECT id, parent_id, name, role, subscribed, uidvalidity, uidnext, total, unseen, deleted, bytes, highestmodseq
     FROM mailbox WHERE account_id = ? AND gone_at IS NULL`,
    input.account,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const parents = new Set(rows.map((row) => row.parent_id));
  return rows.map((row) => toInfo(row, fullName(row, byId), parents.has(row.id)));
});

/** One mailbox by its full name. */
export const findMailbox = query(
  'find-mailbox',
  async (rx, input: { account: number; name: string }): Promise<MailboxInfo | undefined> => {
    const id = await idOf(rx, input.account, input.name);
    if (id === undefined) return undefined;
    const row = await rx.get<MailboxRow>(
      `SELECT id, parent_id, name, role, subscribed, uidvalidity, uidnext, total, unseen, deleted, bytes, highestmodseq
       FROM mailbox WHERE id = ?`,
      id,
    );
    return row === undefined ? undefined : toInfo(row, input.name, await hasChildren(rx, input.account, id));
  },
);

function toInfo(row: MailboxRow, name: string, children: boolean): MailboxInfo {
  return {
    id: row.id,
    name,
    role: row.role,
    subscribed: row.subscribed === 1,
    hasChildren: children,
    uidValidity: row.uidvalidity,
    uidNext: row.uidnext,
    total: row.total,
    unseen: row.unseen,
    deleted: row.deleted,
    bytes: row.bytes,
    highestModseq: row.highestmodseq,
  };
}

function fullName(row: MailboxRow, byId: ReadonlyMap<number, MailboxRow>): string {
  let name = row.name;
  for (let at = byId.get(row.parent_id), depth = 0; at !== undefined && depth < DEEPEST; depth++) {
    name = `${at.name}/${name}`;
    at = byId.get(at.parent_id);
  }
  return name;
}

/** Walks a name down the tree. */
async function idOf(rx: Read, account: number, name: string): Promise<number | undefined> {
  let id = 0;
  for (const level of name.split('/')) {
    const row = await rx.get<{ id: number }>(
      'SELECT id FROM mailbox WHERE account_id = ? AND parent_id = ? AND name = ?',
      account,
      id,
      level,
    );
    if (row === undefined) return undefined;
    id = row.id;
  }
  return id;
}

// With the account, or every mailbox of the box would be looked at for each SELECT.
export async function hasChildren(rx: Read, account: number, id: number): Promise<boolean> {
  const sql = 'SELECT 1 AS child FROM mailbox WHERE account_id = ? AND parent_id = ? LIMIT 1';
  return (await rx.get(sql, account, id)) !== undefined;
}

export async function addMailbox(
  tx: Write,
  account: number,
  parent: number,
  name: string,
  role: MailboxRole | null,
  stamp: Stamp,
): Promise<number> {
  const modseq = await tx.nextModseq(account);
  // Never lower, never again, also after the clock went back: RFC 9051 2.3.1.1.
  const validity = await tx.get<{ v: number }>(
    'UPDATE account SET uidvalidity_last = max(?, uidvalidity_last + 1) WHERE id = ? RETURNING uidvalidity_last AS v',
    Math.floor(stamp.now / 1000),
    account,
  );
  const { id } = await tx.run(
    `INSERT INTO mailbox (account_id, parent_id, name, role, uidvalidity, highestmodseq, created_modseq, modseq, threads, threads_unread)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?6, 0, 0)`,
    account,
    parent,
    name,
    role,
    validity?.v ?? 1,
    modseq,
  );
  tx.touched(account, id);
  return id;
}

/** The mailboxes of a new account. */
export async function addFirstMailboxes(tx: Write, account: number, stamp: Stamp): Promise<void> {
  for (const [name, role] of FIRST_MAILBOXES) await addMailbox(tx, account, 0, name, role, stamp);
}

export type CreateResult = { kind: 'created'; id: number } | { kind: 'exists' } | { kind: 'too-many' };

/** CREATE, with the parents that are missing. */
export const createMailbox = command(
  'create-mailbox',
  async (tx, input: { account: number; name: string; role: MailboxRole | null }, stamp): Promise<CreateResult> => {
    const levels = input.name.split('/');
    if (levels.length > DEEPEST || !(await roomFor(tx, input.account, levels.length))) return { kind: 'too-many' };
    const id = await makePath(tx, input.account, levels, input.role, stamp);
    return id === 0 ? { kind: 'exists' } : { kind: 'created', id };
  },
);

export async function roomFor(rx: Read, account: number, more: number): Promise<boolean> {
  const count = await rx.get<{ n: number }>(
    'SELECT count(*) AS n FROM mailbox WHERE account_id = ? AND gone_at IS NULL',
    account,
  );
  return (count?.n ?? 0) + more <= MOST_MAILBOXES;
}

/** Answers 0 when the whole path is there already. */
async function makePath(
  tx: Write,
  account: number,
  levels: readonly string[],
  role: MailboxRole | null,
  stamp: Stamp,
): Promise<number> {
  let parent = 0;
  let made = 0;
  for (const [i, level] of levels.entries()) {
    const known = await idOfChild(tx, account, parent, level);
    made =
      known === undefined
        ? await addMailbox(tx, account, parent, level, i === levels.length - 1 ? role : null, stamp)
        : 0;
    parent = known ?? made;
  }
  return made;
}

export async function idOfChild(rx: Read, account: number, parent: number, name: string): Promise<number | undefined> {
  const row = await rx.get<{ id: number }>(
    'SELECT id FROM mailbox WHERE account_id = ? AND parent_id = ? AND name = ?',
    account,
    parent,
    name,
  );
  return row?.id;
}

/** DELETE. The mailbox is out of sight at once; its messages leave in slices afterwards. */
export const removeMailbox = command(
  'remove-mailbox',
  async (
    tx,
    input: { account: number; name: string; hand?: Hand | undefined },
    stamp,
  ): Promise<'removed' | 'missing' | 'has-children' | 'is-inbox' | 'is-for-approval' | 'has-emails'> => {
    if (input.name === 'INBOX') return 'is-inbox';
    const id = await idOf(tx, input.account, input.name);
    if (id === undefined) return 'missing';
    if (await holdsApprovals(tx, input.account, id)) return 'is-for-approval';
    if (await hasChildren(tx, input.account, id)) return 'has-children';
    // What an agent does can be undone, and of a folder that went with its emails nothing is written down.
    const agent = await agentsName(tx, input.account, input.hand);
    if (agent !== null && (await holdsEmails(tx, id))) return 'has-emails';
    await dismissMailbox(tx, input.account, id, stamp);
    return 'removed';
  },
);

async function holdsEmails(rx: Read, mailbox: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS there FROM entry WHERE mailbox_id = ? LIMIT 1', mailbox)) !== undefined;
}

/**
 * Takes a mailbox away with what is in it. Few messages leave in this command; of many, the mailbox hides them from now
 * on (`type-state.ts` and `email-changes.ts` know), and they leave in slices afterwards.
 */
export async function dismissMailbox(tx: Write, account: number, id: number, stamp: Stamp): Promise<void> {
  const modseq = await tx.nextModseq(account);
  const rows = await tx.all<EntryRow>(
    'SELECT uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry WHERE mailbox_id = ? ORDER BY uid LIMIT ?',
    id,
    GO_AT_ONCE + 1,
  );
  const few = rows.length <= GO_AT_ONCE;
  const threads = few ? rows.map((row) => row.thread_id) : [];
  const before = await lookAtThreads(tx, threads);
  // A parent that no client can name, and a name that no other has.
  await tx.run(
    `UPDATE mailbox SET gone_at = ?, parent_id = -1, name = ?, role = NULL, modseq = ?, highestmodseq = ? WHERE id = ?`,
    stamp.now,
    `gone ${id}`,
    modseq,
    modseq,
    id,
  );
  if (!few) await forgetThreadCounts(tx, account, modseq);
  else if (rows.length > 0) await takeEntries(tx, account, id, rows, stamp);
  await settleThreads(tx, before, modseq);
  tx.touched(account, id);
}

/** `is-for-approval`: what is moved there is sent, so it keeps its name. */
export type RenameResult = 'renamed' | 'missing' | 'exists' | 'inside-itself' | 'too-many' | 'is-for-approval';

/** RENAME of anything but INBOX: one row, whatever hangs below it. Missing parents of the new name are made. */
export const renameMailbox = command(
  'rename-mailbox',
  async (tx, input: { account: number; from: string; to: string }, stamp): Promise<RenameResult> => {
    const { account, from, to } = input;
    const id = await idOf(tx, account, from);
    if (id === undefined) return 'missing';
    if (await isForApproval(tx, account, id)) return 'is-for-approval';
    if (to.startsWith(`${from}/`)) return 'inside-itself';
    if ((await idOf(tx, account, to)) !== undefined) return 'exists';
    const levels = to.split('/');
    const below = await extentBelow(tx, account, id);
    const tooDeep = levels.length + below.levels > DEEPEST || Buffer.byteLength(to) + below.octets > LONGEST;
    if (tooDeep || !(await roomFor(tx, account, levels.length - 1))) return 'too-many';
    const name = levels.pop() ?? to;
    let parent = 0;
    for (const level of levels) {
      parent =
        (await idOfChild(tx, account, parent, level)) ?? (await addMailbox(tx, account, parent, level, null, stamp));
    }
    const modseq = await tx.nextModseq(account);
    await tx.run('UPDATE mailbox SET parent_id = ?, name = ?, modseq = ? WHERE id = ?', parent, name, modseq, id);
    tx.touched(account, id);
    return 'renamed';
  },
);

/** How many levels hang below a mailbox, and how many octets they add to its name. */
export async function extentBelow(rx: Read, account: number, id: number): Promise<{ levels: number; octets: number }> {
  const row = await rx.get<{ levels: number; octets: number }>(
    `WITH RECURSIVE below (id, levels, octets) AS (SELECT ?, 0, 0 UNION ALL
       SELECT m.id, b.levels + 1, b.octets + 1 + length(CAST(m.name AS BLOB)) FROM below b
       JOIN mailbox m ON m.account_id = ? AND m.parent_id = b.id)
     SELECT max(levels) AS levels, max(octets) AS octets FROM below`,
    id,
    account,
  );
  return row ?? { levels: 0, octets: 0 };
}

export const subscribeMailbox = command(
  'subscribe-mailbox',
  async (tx, input: { account: number; name: string; on: boolean }): Promise<'done' | 'missing'> => {
    const id = await idOf(tx, input.account, input.name);
    if (id === undefined) return 'missing';
    const modseq = await tx.nextModseq(input.account);
    await tx.run('UPDATE mailbox SET subscribed = ?, modseq = ? WHERE id = ?', Number(input.on), modseq, id);
    tx.touched(input.account);
    return 'done';
  },
);
