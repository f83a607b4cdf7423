import { type MailboxChange, mailboxChanges, type MailboxNode, mailboxTree } from '../../store/mailbox/mailbox-tree.ts';
import { countThreads, storeThreadCounts } from '../../store/message/thread-counts.ts';
import { MAIL } from '../core/capabilities.ts';
import { jmapId, jmapRow } from '../core/ids.ts';
import type { Access, JmapContext } from '../core/method.ts';
import { sharedPart } from '../core/shared-accounts.ts';
import {
  cannotCalculate,
  changesAfter,
  changesMethod,
  type ChangesRequest,
  type ChangesResult,
  formatCut,
  formatState,
} from '../standard/standard-changes.ts';
import { getMethod } from '../standard/standard-get.ts';
import { mailboxFacts } from './mailbox-facts.ts';
import { findSharedMailboxes, sharedMailboxChanges } from './shared-mailboxes.ts';

/** Counters, which change with messages. RFC 8621 2.2. */
const COUNTS = ['totalEmails', 'unreadEmails', 'totalThreads', 'unreadThreads'] as const;

/** Properties that a client may set. */
export const SETTABLE = ['name', 'parentId', 'role', 'sortOrder', 'isSubscribed'] as const;

/** All properties of a Mailbox. RFC 8621 2. */
export const MAILBOX_PROPERTIES: ReadonlySet<string> = new Set(['id', ...SETTABLE, ...COUNTS, 'myRights']);

/** The Mailbox object of a node. */
export function mailboxObject(node: MailboxNode, access: Access): Record<string, unknown> & { id: string } {
  return { ...mailboxFacts(node), myRights: rights(node, !access.readOnly) };
}

/** Computes myRights. The inbox cannot be renamed or deleted: IMAP identifies it by name. */
function rights(node: MailboxNode, mayWrite: boolean): Record<string, boolean> {
  const mayRename = mayWrite && node.role !== 'inbox';
  return {
    mayReadItems: true,
    mayAddItems: mayWrite,
    mayRemoveItems: mayWrite,
    maySetSeen: mayWrite,
    maySetKeywords: mayWrite,
    mayCreateChild: mayWrite,
    mayRename,
    mayDelete: mayRename,
    maySubmit: mayWrite,
  };
}

/** Mailbox/get. RFC 8621 2.1. One response can hold all: an account has at most 2,000. */
export const mailboxGet = getMethod({
  name: 'Mailbox/get',
  capability: MAIL,
  properties: MAILBOX_PROPERTIES,
  canShare: true,
  async find(call, { ids, access }) {
    const { context, session } = call;
    const { account } = access;
    const shared = sharedPart(call, account);
    if (shared !== undefined) return findSharedMailboxes(context, shared);
    const rows = ids?.flatMap((id) => jmapRow('mailbox', account, id) ?? []) ?? null;
    const { state, nodes } = await readCountedTree(context, account, rows);
    await session.onWords?.({ account, kinds: ['folders'], written: false });
    return { found: nodes.map((node) => mailboxObject(node, access)), state: formatState(state) };
  },
});

/** Attempts to count threads in a reader thread before the writer thread counts them. */
const TRIES = 3;

/**
 * Reads the mailboxes of an account, or those in `ids`, with all counters. Counts threads first if that is pending: for
 * accounts older than JMAP, after the trash role moved, after a large mailbox was deleted.
 */
async function readCountedTree(
  context: JmapContext,
  account: number,
  ids: readonly number[] | null,
): Promise<{ state: number; nodes: MailboxNode[] }> {
  const tree = await context.store.read(mailboxTree, { account, ids });
  if (tree.nodes.every((node) => node.threads !== null)) return tree;
  await countAll(context, account);
  return context.store.read(mailboxTree, { account, ids });
}

async function countAll({ store }: JmapContext, account: number): Promise<void> {
  for (let tried = 0; tried < TRIES; tried++) {
    const found = await store.scan(countThreads, { account });
    if ((await store.write(storeThreadCounts, { account, found })) === 'kept') return;
  }
  await store.write(storeThreadCounts, { account, found: null });
}

/** Mailbox/changes, with `updatedProperties` when only counters changed. RFC 8621 2.2. */
export const mailboxChangesMethod = changesMethod(
  'Mailbox/changes',
  MAIL,
  async ({ store }, request) => {
    const found = await store.read(mailboxChanges, changesAfter(request));
    if (request.since.modseq > found.state) throw cannotCalculate('was not issued for this account');
    return changedMailboxes(request, found);
  },
  sharedMailboxChanges,
);

/** Computes Mailbox/changes from rows read with one more than requested. */
function changedMailboxes(
  request: ChangesRequest,
  found: { state: number; changes: readonly MailboxChange[] },
): ChangesResult & { updatedProperties: readonly string[] | null } {
  const { origin, modseq } = request.since;
  const page = found.changes.slice(0, request.maxChanges);
  const last = page.at(-1);
  const hasMoreChanges = found.changes.length > page.length;
  const ids = (rows: readonly MailboxChange[]): string[] => rows.map((row) => jmapId('mailbox', row.id));
  const there = page.filter((row) => row.gone === 0);
  const updated = there.filter((row) => row.createdModseq <= origin);
  const onlyCounts = updated.length > 0 && updated.every((row) => row.modseq <= origin);
  return {
    newState:
      hasMoreChanges && last !== undefined
        ? formatCut({ modseq: last.at, row: last.id, origin })
        : formatState(found.state),
    hasMoreChanges,
    created: ids(there.filter((row) => row.createdModseq > origin)),
    updated: ids(updated),
    // The client does not know mailboxes created after its last reported change.
    destroyed: ids(page.filter((row) => row.gone === 1 && row.createdModseq <= modseq)),
    updatedProperties: onlyCounts ? COUNTS : null,
  };
}
