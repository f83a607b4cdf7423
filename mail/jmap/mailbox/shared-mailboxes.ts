import {
  gives,
  readableFolders,
  readSharedState,
  type SharedAccount,
  type SharedFolder,
  sharedMailboxState,
} from '../../store/mailbox/shared-account.ts';
import type { MailboxNode } from '../../store/mailbox/mailbox-tree.ts';
import { countSharedEmails, type SharedCounts } from '../../store/message/shared-emails.ts';
import { jmapId } from '../core/ids.ts';
import type { JmapContext } from '../core/method.ts';
import { cannotCalculate, type SharedChangesFinder } from '../standard/standard-changes.ts';
import { mailboxFacts } from './mailbox-facts.ts';

/** The Mailbox objects of a shared account. RFC 8621 2. */
export async function findSharedMailboxes(
  context: JmapContext,
  account: SharedAccount,
): Promise<{ found: (Record<string, unknown> & { id: string })[]; state: string }> {
  const nodes = await sharedMailboxNodes(context, account);
  const found = nodes.map(({ node, folder }) => ({ ...mailboxFacts(node), myRights: sharedRights(folder) }));
  return { found, state: sharedMailboxState(account) };
}

/** The mailboxes of a shared account as a tree of their own, in the order of their ids. */
export async function sharedMailboxNodes(
  { store }: JmapContext,
  account: SharedAccount,
): Promise<{ node: MailboxNode; folder: SharedFolder }[]> {
  const counts = await store.scan(countSharedEmails, { folders: readableFolders(account) });
  const byId = new Map(counts.map((one) => [one.mailbox, one]));
  const seen = new Set(account.folders.map(({ id }) => id));
  const taken = new Set<string>();
  return account.folders.map((folder) => {
    // A mailbox below one that is not shared is at the top.
    const parent = seen.has(folder.parent) ? folder.parent : 0;
    const name = siblingName(taken, parent, folder);
    return { folder, node: nodeOf({ ...folder, parent, name }, byId.get(folder.id)) };
  });
}

/** Siblings have different names (RFC 8621 2), but those at the top may come from different levels of the owner. */
function siblingName(taken: Set<string>, parent: number, { id, name }: SharedFolder): string {
  const key = `${parent}/${name}`;
  const isTaken = taken.has(key);
  taken.add(key);
  return isTaken ? `${name} (${jmapId('mailbox', id)})` : name;
}

function nodeOf({ id, parent, name, subscribed, modseq }: SharedFolder, counts: SharedCounts | undefined): MailboxNode {
  const { emails = 0, unread = 0, threads = 0, unreadThreads = 0 } = counts ?? {};
  return { id, parent, name, role: null, sortOrder: 0, subscribed, emails, unread, threads, unreadThreads, modseq };
}

/** The rights of IMAP as those of JMAP. RFC 8621 2. Names, levels and rights stay with the owner. */
function sharedRights(folder: SharedFolder): Record<string, boolean> {
  return {
    mayReadItems: gives(folder, 'r'),
    mayAddItems: gives(folder, 'i'),
    mayRemoveItems: gives(folder, 'te'),
    maySetSeen: gives(folder, 's'),
    maySetKeywords: gives(folder, 'w'),
    mayCreateChild: false,
    mayRename: false,
    mayDelete: false,
    maySubmit: false,
  };
}

/**
 * Mailbox/changes of a shared account: after any change all its mailboxes are updated, as a message that is read in one
 * changes the unread threads of others.
 */
export const sharedMailboxChanges: SharedChangesFinder = (_context, account, { sinceState, maxChanges }) => {
  const state = sharedMailboxState(account);
  const since = readSharedState(sinceState, state);
  if (since === undefined) throw cannotCalculate('is from before a change of rights');
  const { folders } = account;
  if (state !== sinceState && folders.length > maxChanges) throw cannotCalculate('has more changes than fit');
  const updated = state === sinceState ? [] : folders.map(({ id }) => jmapId('mailbox', id));
  const changed = { newState: state, hasMoreChanges: false, created: [], updated, destroyed: [] };
  return Promise.resolve({ ...changed, updatedProperties: null });
};
