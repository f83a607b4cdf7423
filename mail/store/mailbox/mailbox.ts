import { command, lookup, query, type Read, type Stamp, type Write } from '../engine/types.ts';
import { keepSubscription, subscribeRenamed, takeFormerSubscription } from './former-subscription.ts';
import { agentName, type Actor } from '../actor.ts';
import { removeAnnotations } from './annotation.ts';
import { revokeGrants } from './revoke-grants.ts';
import { type EntryRow, takeEntries } from '../message/entry.ts';
import { snapshotThreads, updateThreads } from '../message/visibility.ts';
import { resetThreadCounts } from '../message/thread-counts.ts';

export type MailboxRole = 'inbox' | 'drafts' | 'sent' | 'junk' | 'trash' | 'archive';

/** First mailboxes of every account, so that no client creates a second Sent or Trash. RFC 6154. */
const FIRST_MAILBOXES: readonly [string, MailboxRole][] = [
  ['INBOX', 'inbox'],
  ['Drafts', 'drafts'],
  ['Sent', 'sent'],
  ['Junk', 'junk'],
  ['Trash', 'trash'],
  ['Archive', 'archive'],
];

const MAX_MAILBOXES = 2_000;
/** Maximum levels of a name. */
export const MAX_MAILBOX_DEPTH = 20;
/** Maximum octets of a full name, since clients cannot send longer ones. */
export const MAX_MAILBOX_NAME_OCTETS = 1_000;
/** Messages that are removed in the same command as their mailbox; more are removed in slices. */
const MAX_REMOVED_AT_ONCE = 200;

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

/** All mailboxes of an account with their full names, unordered. */
export const listMailboxes = lookup(
  'list-mailboxes',
  async (rx, input: { account: number }): Promise<MailboxInfo[]> => {
    const rows = await rx.all<MailboxRow>(
      `SELECT id, parent_id, name, role, subscribed, uidvalidity, uidnext, total, unseen, deleted, bytes, highestmodseq
     FROM mailbox WHERE account_id = ? AND deleted_at IS NULL`,
      input.account,
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const parents = new Set(rows.map((row) => row.parent_id));
    return rows.map((row) => toInfo(row, fullName(row, byId), parents.has(row.id)));
  },
);

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
  for (let at = byId.get(row.parent_id), depth = 0; at !== undefined && depth < MAX_MAILBOX_DEPTH; depth++) {
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

// The account restricts the scan to its mailboxes.
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
  // Strictly increasing, even after the clock was set back: RFC 9051 2.3.1.1.
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

export type CreateMailboxResult = { kind: 'created'; id: number } | { kind: 'exists' } | { kind: 'too-many' };

/** CREATE, including missing parents. */
export const createMailbox = command(
  'create-mailbox',
  async (
    tx,
    input: { account: number; name: string; role: MailboxRole | null; subscribed?: boolean },
    stamp,
  ): Promise<CreateMailboxResult> => {
    const levels = input.name.split('/');
    if (levels.length > MAX_MAILBOX_DEPTH || !(await hasMailboxCapacity(tx, input.account, levels.length)))
      return { kind: 'too-many' };
    const id = await createPath(tx, { subscribed: true, ...input, levels }, stamp);
    return id === 0 ? { kind: 'exists' } : { kind: 'created', id };
  },
);

export async function hasMailboxCapacity(rx: Read, account: number, more: number): Promise<boolean> {
  const count = await rx.get<{ n: number }>(
    'SELECT count(*) AS n FROM mailbox WHERE account_id = ? AND deleted_at IS NULL',
    account,
  );
  return (count?.n ?? 0) + more <= MAX_MAILBOXES;
}

/** Creates the missing levels of a path. Returns 0 if it exists. */
async function createPath(
  tx: Write,
  wanted: { account: number; levels: readonly string[]; role: MailboxRole | null; subscribed: boolean },
  stamp: Stamp,
): Promise<number> {
  const { account, levels, role, subscribed } = wanted;
  let parent = 0;
  let made = 0;
  for (const [i, level] of levels.entries()) {
    const known = await idOfChild(tx, account, parent, level);
    const isLast = i === levels.length - 1;
    made = known === undefined ? await addMailbox(tx, account, parent, level, isLast ? role : null, stamp) : 0;
    const name = levels.slice(0, i + 1).join('/');
    if (made !== 0) await subscribeNew(tx, account, made, { name, subscribed: isLast && subscribed });
    parent = known ?? made;
  }
  return made;
}

/** Subscribes a new mailbox where that is wanted, or where a mailbox of that name was subscribed. RFC 3501 6.3.9. */
async function subscribeNew(
  tx: Write,
  account: number,
  id: number,
  { name, subscribed }: { name: string; subscribed: boolean },
): Promise<void> {
  const wasSubscribed = await takeFormerSubscription(tx, account, name);
  if (!subscribed && !wasSubscribed) await tx.run('UPDATE mailbox SET subscribed = 0 WHERE id = ?', id);
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

/** DELETE. Hides the mailbox at once; its messages are purged in slices. */
export const removeMailbox = command(
  'remove-mailbox',
  async (
    tx,
    input: { account: number; name: string; actor?: Actor | undefined },
    stamp,
  ): Promise<'removed' | 'missing' | 'has-children' | 'is-inbox' | 'is-for-approval' | 'has-emails'> => {
    if (input.name === 'INBOX') return 'is-inbox';
    const id = await idOf(tx, input.account, input.name);
    if (id === undefined) return 'missing';
    if ((await tx.hooks.isReserved(tx, input.account, id)) && (await hasEntries(tx, id))) return 'is-for-approval';
    if (await hasChildren(tx, input.account, id)) return 'has-children';
    // Agents may not delete a mailbox with messages, since its messages could not be restored.
    const agent = await agentName(tx, input.account, input.actor);
    if (agent !== null && (await hasEntries(tx, id))) return 'has-emails';
    await keepSubscription(tx, input.account, id, input.name);
    await hideMailbox(tx, input.account, id, stamp);
    return 'removed';
  },
);

/** Reports whether a mailbox has entries, including those marked \Deleted. */
export async function hasEntries(rx: Read, mailbox: number): Promise<boolean> {
  return (await rx.get('SELECT 1 AS there FROM entry WHERE mailbox_id = ? LIMIT 1', mailbox)) !== undefined;
}

/**
 * Removes a mailbox with its messages. A few messages are removed in this command; of many, the mailbox hides them from
 * now on (see `type-state.ts` and `email-changes.ts`), and they are purged in slices.
 */
export async function hideMailbox(tx: Write, account: number, id: number, stamp: Stamp): Promise<void> {
  const modseq = await tx.nextModseq(account);
  const rows = await tx.all<EntryRow>(
    'SELECT uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry WHERE mailbox_id = ? ORDER BY uid LIMIT ?',
    id,
    MAX_REMOVED_AT_ONCE + 1,
  );
  const few = rows.length <= MAX_REMOVED_AT_ONCE;
  const threads = few ? rows.map((row) => row.thread_id) : [];
  const before = await snapshotThreads(tx, threads);
  // Read before the row loses its name: messages are restored to their place.
  await tx.run(
    'INSERT INTO deleted_mailbox (mailbox_id, path) VALUES (?, ?) ON CONFLICT DO NOTHING',
    id,
    await mailboxPath(tx, id),
  );
  // An invalid parent and a unique name, which no client can address.
  await tx.run(
    `UPDATE mailbox SET deleted_at = ?, parent_id = -1, name = ?, role = NULL, modseq = ?, highestmodseq = ? WHERE id = ?`,
    stamp.now,
    `gone ${id}`,
    modseq,
    modseq,
    id,
  );
  if (!few) await resetThreadCounts(tx, account, modseq);
  else if (rows.length > 0) await takeEntries(tx, account, id, rows, stamp);
  await removeAnnotations(tx, id);
  await revokeGrants(tx, id);
  await updateThreads(tx, before, modseq);
  tx.touched(account, id);
}

/** Full name of a mailbox. */
export async function mailboxPath(rx: Read, mailbox: number): Promise<string> {
  const rows = await rx.all<{ name: string }>(
    `WITH RECURSIVE above (id, parent, name, depth) AS (
       SELECT id, parent_id, name, 0 FROM mailbox WHERE id = ?
       UNION ALL SELECT m.id, m.parent_id, m.name, a.depth + 1 FROM above a JOIN mailbox m ON m.id = a.parent
       WHERE a.depth < 50)
     SELECT name FROM above ORDER BY depth DESC`,
    mailbox,
  );
  return rows.map(({ name }) => name).join('/');
}

/** `is-for-approval`: a mailbox that sends what is moved there, so its name is fixed. */
export type RenameMailboxResult = 'renamed' | 'missing' | 'exists' | 'inside-itself' | 'too-many' | 'is-for-approval';

/** RENAME except of INBOX: changes one row. Creates missing parents of the new name. */
export const renameMailbox = command(
  'rename-mailbox',
  async (tx, input: { account: number; from: string; to: string }, stamp): Promise<RenameMailboxResult> => {
    const { account, from, to } = input;
    const id = await idOf(tx, account, from);
    if (id === undefined) return 'missing';
    if (await tx.hooks.isReserved(tx, account, id)) return 'is-for-approval';
    if (to.startsWith(`${from}/`)) return 'inside-itself';
    if ((await idOf(tx, account, to)) !== undefined) return 'exists';
    const levels = to.split('/');
    const below = await subtreeExtent(tx, account, id);
    const tooDeep =
      levels.length + below.levels > MAX_MAILBOX_DEPTH ||
      Buffer.byteLength(to) + below.octets > MAX_MAILBOX_NAME_OCTETS;
    if (tooDeep || !(await hasMailboxCapacity(tx, account, levels.length - 1))) return 'too-many';
    const name = levels.pop() ?? to;
    let parent = 0;
    for (const [i, level] of levels.entries()) {
      const known = await idOfChild(tx, account, parent, level);
      const above = known ?? (await addMailbox(tx, account, parent, level, null, stamp));
      const name = levels.slice(0, i + 1).join('/');
      if (known === undefined) await subscribeNew(tx, account, above, { name, subscribed: false });
      parent = above;
    }
    const modseq = await tx.nextModseq(account);
    await tx.run('UPDATE mailbox SET parent_id = ?, name = ?, modseq = ? WHERE id = ?', parent, name, modseq, id);
    await subscribeRenamed(tx, { account, top: to, modseq }, (each) => idOf(tx, account, each));
    tx.touched(account, id);
    return 'renamed';
  },
);

/** Depth of the subtree below a mailbox, and the octets that it adds to names. */
export async function subtreeExtent(
  rx: Read,
  account: number,
  id: number,
): Promise<{ levels: number; octets: number }> {
  const row = await rx.get<{ levels: number; octets: number }>(
    `WITH RECURSIVE below (id, levels, octets) AS (SELECT CAST(? AS INTEGER), CAST(0 AS INTEGER), CAST(0 AS INTEGER) UNION ALL
       SELECT m.id, b.levels + 1, b.octets + 1 + octet_length(m.name) FROM below b
       JOIN mailbox m ON m.account_id = ? AND m.parent_id = b.id)
     SELECT max(levels) AS levels, max(octets) AS octets FROM below`,
    id,
    account,
  );
  return row ?? { levels: 0, octets: 0 };
}

/** Octets of the messages with \\Deleted of a mailbox. Reads all its entries: for the reader thread. */
export const deletedOctets = lookup(
  'deleted-octets',
  async (rx, { account, mailbox }: { account: number; mailbox: number }): Promise<number> => {
    const row = await rx.get<{ octets: number }>(
      `SELECT coalesce(sum(e.size), 0) AS octets FROM mailbox m CROSS JOIN entry e ON e.mailbox_id = m.id
       WHERE m.id = ? AND m.account_id = ? AND e.flags & 16 <> 0`,
      mailbox,
      account,
    );
    return row?.octets ?? 0;
  },
);

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
