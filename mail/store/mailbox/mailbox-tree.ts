import { command, query, type Read, type Write } from '../engine/types.ts';
import { conditionalCommand } from '../account/state-guard.ts';
import {
  addMailbox,
  MAX_MAILBOX_DEPTH,
  hideMailbox,
  subtreeExtent,
  hasChildren,
  hasEntries,
  idOfChild,
  MAX_MAILBOX_NAME_OCTETS,
  type MailboxRole,
  hasMailboxCapacity,
} from './mailbox.ts';
import { resetThreadCounts } from '../message/thread-counts.ts';
import { stateOf } from '../account/type-state.ts';

/** A mailbox as a node of the tree, with JMAP's counters. */
export interface MailboxNode extends Record<string, string | number | null> {
  id: number;
  /** Parent mailbox; 0: top level. */
  parent: number;
  name: string;
  role: MailboxRole | null;
  sortOrder: number;
  subscribed: number;
  emails: number;
  unread: number;
  /** Null: not counted yet, see `thread-counts.ts`. */
  threads: number | null;
  unreadThreads: number | null;
  /** Last change except of counters. */
  modseq: number;
}

const NODES = `SELECT id, parent_id AS parent, name, role, sort_order AS sortOrder, subscribed, j_total AS emails,
  j_unread AS unread, threads, threads_unread AS unreadThreads, modseq
  FROM mailbox WHERE account_id = ? AND deleted_at IS NULL`;

/** All mailboxes of an account, or the given ones, with the state of all. */
export const mailboxTree = query(
  'mailbox-tree',
  async (
    rx,
    { account, ids }: { account: number; ids: readonly number[] | null },
  ): Promise<{ state: number; nodes: MailboxNode[] }> => {
    const nodes =
      ids === null
        ? await rx.all<MailboxNode>(`${NODES} ORDER BY id`, account)
        : await rx.all<MailboxNode>(
            `${NODES} AND id IN (SELECT value FROM json_each(?))`,
            account,
            JSON.stringify(ids),
          );
    return { state: await stateOf(rx, account, 'Mailbox'), nodes };
  },
);

/** One change of a mailbox, for /changes. */
export interface MailboxChange extends Record<string, number> {
  id: number;
  /** Last change, including counters. */
  at: number;
  /** Last change except of counters. */
  modseq: number;
  createdModseq: number;
  gone: 0 | 1;
}

/** Changes after (modseq, row) in this order; at most `limit`. */
export const mailboxChanges = query(
  'mailbox-changes',
  async (
    rx,
    input: { account: number; modseq: number; row: number; limit: number },
  ): Promise<{ state: number; changes: MailboxChange[] }> => {
    const changes = await rx.all<MailboxChange>(
      `SELECT id, max(modseq, counts_modseq) AS at, modseq, created_modseq AS createdModseq, deleted_at IS NOT NULL AS gone
       FROM mailbox WHERE account_id = ?1 AND (max(modseq, counts_modseq), id) > (?2, ?3) ORDER BY at, id LIMIT ?4`,
      input.account,
      input.modseq,
      input.row,
      input.limit,
    );
    return { state: await stateOf(rx, input.account, 'Mailbox'), changes };
  },
);

/** Properties of a mailbox that a client may set. */
export interface MailboxFacts {
  /** Parent mailbox; 0: top level. */
  parent: number;
  /** One level of a name, see `message/mailbox-name.ts`. */
  name: string;
  role: MailboxRole | null;
  sortOrder: number;
  subscribed: boolean;
}

export type MailboxRefusal =
  { kind: 'exists'; id: number } | { kind: 'no-parent' | 'inside-itself' | 'too-deep' | 'too-many' | 'role-taken' };

/** Creates a mailbox below an existing parent. */
const addChild = command(
  'add-child-mailbox',
  async (
    tx,
    { account, facts }: { account: number; facts: MailboxFacts },
    stamp,
  ): Promise<{ kind: 'created'; id: number } | MailboxRefusal> => {
    const refusal = await refusalFor(tx, account, 0, facts);
    if (refusal !== undefined) return refusal;
    if (!(await hasMailboxCapacity(tx, account, 1))) return { kind: 'too-many' };
    const id = await addMailbox(tx, account, facts.parent, facts.name, facts.role, stamp);
    const { sortOrder, subscribed } = facts;
    await tx.run('UPDATE mailbox SET sort_order = ?, subscribed = ? WHERE id = ?', sortOrder, Number(subscribed), id);
    return { kind: 'created', id };
  },
);

/** Changes a mailbox. The inbox keeps its name, parent and role. */
const change = command(
  'change-mailbox',
  async (
    tx,
    { account, id, facts }: { account: number; id: number; facts: MailboxFacts },
  ): Promise<{ kind: 'changed' } | { kind: 'missing' | 'is-inbox' | 'is-for-approval' } | MailboxRefusal> => {
    const was = await nodeOf(tx, account, id);
    if (was === undefined) return { kind: 'missing' };
    const { parent, name, role, sortOrder, subscribed } = facts;
    const moves = parent !== was.parent || name !== was.name;
    if (was.role === 'inbox' && (moves || role !== 'inbox')) return { kind: 'is-inbox' };
    if ((moves || role !== null) && (await tx.hooks.isReserved(tx, account, id))) return { kind: 'is-for-approval' };
    const refusal = await refusalFor(tx, account, id, facts);
    if (refusal !== undefined) return refusal;
    const modseq = await tx.nextModseq(account);
    await tx.run(
      `UPDATE mailbox SET parent_id = ?, name = ?, role = ?, sort_order = ?, subscribed = ?, modseq = ? WHERE id = ?`,
      parent,
      name,
      role,
      sortOrder,
      Number(subscribed),
      modseq,
      id,
    );
    // The trash is counted separately, so a change of the trash changes the counters of all mailboxes.
    if (role !== was.role && (role === 'trash' || was.role === 'trash')) await resetThreadCounts(tx, account, modseq);
    tx.touched(account, id);
    return { kind: 'changed' };
  },
);

/** Why a mailbox is not deleted. */
export type MailboxKept = 'missing' | 'is-inbox' | 'is-for-approval' | 'has-children' | 'has-emails';

/** Deletes a mailbox; if requested, with the messages that are in no other one. */
const destroy = command(
  'destroy-mailbox',
  async (
    tx,
    { account, id, removeEmails }: { account: number; id: number; removeEmails: boolean },
    stamp,
  ): Promise<'destroyed' | MailboxKept> => {
    const was = await nodeOf(tx, account, id);
    if (was === undefined) return 'missing';
    if (was.role === 'inbox') return 'is-inbox';
    if ((await tx.hooks.isReserved(tx, account, id)) && (await hasEntries(tx, id))) return 'is-for-approval';
    if (await hasChildren(tx, account, id)) return 'has-children';
    if (was.emails > 0 && !removeEmails) return 'has-emails';
    await hideMailbox(tx, account, id, stamp);
    return 'destroyed';
  },
);

/** Commands with the ifInState check. */
export const addChildMailbox = conditionalCommand('Mailbox', addChild);
export const changeMailbox = conditionalCommand('Mailbox', change);
export const destroyMailbox = conditionalCommand('Mailbox', destroy);

type Node = { parent: number; name: string; role: MailboxRole | null; emails: number };

async function nodeOf(rx: Read, account: number, id: number): Promise<Node | undefined> {
  return rx.get<Node>(
    `SELECT parent_id AS parent, name, role, j_total AS emails FROM mailbox
     WHERE id = ? AND account_id = ? AND deleted_at IS NULL`,
    id,
    account,
  );
}

/** Reason why a mailbox (0: a new one) cannot have these properties, or undefined. */
async function refusalFor(
  tx: Write,
  account: number,
  id: number,
  { parent, name, role }: MailboxFacts,
): Promise<MailboxRefusal | undefined> {
  const above = await pathOf(tx, account, parent);
  if (above === undefined) return { kind: 'no-parent' };
  if (id !== 0 && above.ids.includes(id)) return { kind: 'inside-itself' };
  const sibling = await idOfChild(tx, account, parent, name);
  if (sibling !== undefined && sibling !== id) return { kind: 'exists', id: sibling };
  const below = id === 0 ? { levels: 0, octets: 0 } : await subtreeExtent(tx, account, id);
  const octets = above.octets + Buffer.byteLength(name) + below.octets;
  if (above.ids.length + 1 + below.levels > MAX_MAILBOX_DEPTH || octets > MAX_MAILBOX_NAME_OCTETS)
    return { kind: 'too-deep' };
  const holder = role === null ? undefined : await roleHolder(tx, account, role);
  return holder === undefined || holder === id ? undefined : { kind: 'role-taken' };
}

async function roleHolder(rx: Read, account: number, role: MailboxRole): Promise<number | undefined> {
  const sql = 'SELECT id FROM mailbox WHERE account_id = ? AND role = ?';
  return (await rx.get<{ id: number }>(sql, account, role))?.id;
}

/** Ids of the mailbox and its ancestors, and the octets of its full name with a trailing '/'. Undefined: not found. */
async function pathOf(rx: Read, account: number, id: number): Promise<{ ids: number[]; octets: number } | undefined> {
  const ids: number[] = [];
  let octets = 0;
  for (let at = id; at !== 0 && ids.length <= MAX_MAILBOX_DEPTH;) {
    const node = await nodeOf(rx, account, at);
    if (node === undefined) return undefined;
    ids.push(at);
    octets += Buffer.byteLength(node.name) + 1;
    at = node.parent;
  }
  return { ids, octets };
}
