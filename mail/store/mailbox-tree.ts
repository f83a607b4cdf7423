import { holdsApprovals, isForApproval } from './approval-places.ts';
import { command, query, type Read, type Write } from './engine/types.ts';
import { inState } from './guarded.ts';
import {
  addMailbox,
  DEEPEST,
  dismissMailbox,
  extentBelow,
  hasChildren,
  idOfChild,
  LONGEST,
  type MailboxRole,
  roomFor,
} from './mailbox.ts';
import { forgetThreadCounts } from './thread-counts.ts';
import { stateOf } from './type-state.ts';

/** A mailbox as a node of the tree, with what JMAP counts. */
export interface MailboxNode extends Record<string, string | number | null> {
  id: number;
  /** 0: at the top. */
  parent: number;
  name: string;
  role: MailboxRole | null;
  sortOrder: number;
  subscribed: number;
  emails: number;
  unread: number;
  /** Null: to be counted, `thread-counts.ts`. */
  threads: number | null;
  unreadThreads: number | null;
  /** Last change of anything but the counters. */
  modseq: number;
}

const NODES = `SELECT id, parent_id AS parent, name, role, sort_order AS sortOrder, subscribed, j_total AS emails,
  j_unread AS unread, threads, threads_unread AS unreadThreads, modseq
  FROM mailbox WHERE account_id = ? AND gone_at IS NULL`;

/** All mailboxes of an account, or those named, and the state of all. */
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
  /** Its last change, counters included. */
  at: number;
  /** Its last change but for the counters. */
  modseq: number;
  createdModseq: number;
  gone: 0 | 1;
}

/** Changes behind (modseq, row), in this order; at most `limit`. */
export const mailboxChanges = query(
  'mailbox-changes',
  async (
    rx,
    input: { account: number; modseq: number; row: number; limit: number },
  ): Promise<{ state: number; changes: MailboxChange[] }> => {
    const changes = await rx.all<MailboxChange>(
      `SELECT id, max(modseq, counts_modseq) AS at, modseq, created_modseq AS createdModseq, gone_at IS NOT NULL AS gone
       FROM mailbox WHERE account_id = ?1 AND (max(modseq, counts_modseq), id) > (?2, ?3) ORDER BY at, id LIMIT ?4`,
      input.account,
      input.modseq,
      input.row,
      input.limit,
    );
    return { state: await stateOf(rx, input.account, 'Mailbox'), changes };
  },
);

/** What a client may set of a mailbox. */
export interface MailboxFacts {
  /** 0: at the top. */
  parent: number;
  /** One level of a name, as `message/mailbox-name.ts` has it. */
  name: string;
  role: MailboxRole | null;
  sortOrder: number;
  subscribed: boolean;
}

export type PlaceRefusal =
  { kind: 'exists'; id: number } | { kind: 'no-parent' | 'inside-itself' | 'too-deep' | 'too-many' | 'role-taken' };

/** Makes one mailbox below a parent that is there. */
const plant = command(
  'plant-mailbox',
  async (
    tx,
    { account, facts }: { account: number; facts: MailboxFacts },
    stamp,
  ): Promise<{ kind: 'created'; id: number } | PlaceRefusal> => {
    const refusal = await placeFor(tx, account, 0, facts);
    if (refusal !== undefined) return refusal;
    if (!(await roomFor(tx, account, 1))) return { kind: 'too-many' };
    const id = await addMailbox(tx, account, facts.parent, facts.name, facts.role, stamp);
    const { sortOrder, subscribed } = facts;
    await tx.run('UPDATE mailbox SET sort_order = ?, subscribed = ? WHERE id = ?', sortOrder, Number(subscribed), id);
    return { kind: 'created', id };
  },
);

/** Renames, moves or otherwise changes one mailbox; of the inbox only what does not make it another one. */
const change = command(
  'change-mailbox',
  async (
    tx,
    { account, id, facts }: { account: number; id: number; facts: MailboxFacts },
  ): Promise<{ kind: 'changed' | 'missing' | 'is-inbox' | 'is-for-approval' } | PlaceRefusal> => {
    const was = await nodeOf(tx, account, id);
    if (was === undefined) return { kind: 'missing' };
    const { parent, name, role, sortOrder, subscribed } = facts;
    const moves = parent !== was.parent || name !== was.name;
    if (was.role === 'inbox' && (moves || role !== 'inbox')) return { kind: 'is-inbox' };
    if ((moves || role !== null) && (await isForApproval(tx, account, id))) return { kind: 'is-for-approval' };
    const refusal = await placeFor(tx, account, id, facts);
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
    // What lies in the trash counts apart, so another trash changes the counters of all.
    if (role !== was.role && (role === 'trash' || was.role === 'trash')) await forgetThreadCounts(tx, account, modseq);
    tx.touched(account, id);
    return { kind: 'changed' };
  },
);

/** Destroys a mailbox; what is in no other one goes with it, if that is wanted. */
const destroy = command(
  'destroy-mailbox',
  async (
    tx,
    { account, id, removeEmails }: { account: number; id: number; removeEmails: boolean },
    stamp,
  ): Promise<'destroyed' | 'missing' | 'is-inbox' | 'is-for-approval' | 'has-children' | 'has-emails'> => {
    const was = await nodeOf(tx, account, id);
    if (was === undefined) return 'missing';
    if (was.role === 'inbox') return 'is-inbox';
    if (await holdsApprovals(tx, account, id)) return 'is-for-approval';
    if (await hasChildren(tx, account, id)) return 'has-children';
    if (was.emails > 0 && !removeEmails) return 'has-emails';
    await dismissMailbox(tx, account, id, stamp);
    return 'destroyed';
  },
);

/** As a client asks for them that goes by the state that it knows. */
export const plantMailbox = inState('Mailbox', plant);
export const changeMailbox = inState('Mailbox', change);
export const destroyMailbox = inState('Mailbox', destroy);

type Node = { parent: number; name: string; role: MailboxRole | null; emails: number };

async function nodeOf(rx: Read, account: number, id: number): Promise<Node | undefined> {
  return rx.get<Node>(
    `SELECT parent_id AS parent, name, role, j_total AS emails FROM mailbox
     WHERE id = ? AND account_id = ? AND gone_at IS NULL`,
    id,
    account,
  );
}

/** Why a mailbox (0: a new one) cannot be what the facts say, or undefined. */
async function placeFor(
  tx: Write,
  account: number,
  id: number,
  { parent, name, role }: MailboxFacts,
): Promise<PlaceRefusal | undefined> {
  const above = await pathOf(tx, account, parent);
  if (above === undefined) return { kind: 'no-parent' };
  if (id !== 0 && above.ids.includes(id)) return { kind: 'inside-itself' };
  const sibling = await idOfChild(tx, account, parent, name);
  if (sibling !== undefined && sibling !== id) return { kind: 'exists', id: sibling };
  const below = id === 0 ? { levels: 0, octets: 0 } : await extentBelow(tx, account, id);
  const octets = above.octets + Buffer.byteLength(name) + below.octets;
  if (above.ids.length + 1 + below.levels > DEEPEST || octets > LONGEST) return { kind: 'too-deep' };
  const holder = role === null ? undefined : await roleHolder(tx, account, role);
  return holder === undefined || holder === id ? undefined : { kind: 'role-taken' };
}

async function roleHolder(rx: Read, account: number, role: MailboxRole): Promise<number | undefined> {
  const sql = 'SELECT id FROM mailbox WHERE account_id = ? AND role = ?';
  return (await rx.get<{ id: number }>(sql, account, role))?.id;
}

/** The mailboxes from `id` upwards, and the octets of its whole name with a '/' behind it. Undefined: none such. */
async function pathOf(rx: Read, account: number, id: number): Promise<{ ids: number[]; octets: number } | undefined> {
  const ids: number[] = [];
  let octets = 0;
  for (let at = id; at !== 0 && ids.length <= DEEPEST;) {
    const node = await nodeOf(rx, account, at);
    if (node === undefined) return undefined;
    ids.push(at);
    octets += Buffer.byteLength(node.name) + 1;
    at = node.parent;
  }
  return { ids, octets };
}
