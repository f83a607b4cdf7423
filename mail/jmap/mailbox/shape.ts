import type { MailboxNode } from '../../store/mailbox-tree.ts';
import { jmapId } from '../ids.ts';
import type { Access } from '../method.ts';

/** What moves when messages come, go or are read. RFC 8621 2.2. */
export const COUNTS = ['totalEmails', 'unreadEmails', 'totalThreads', 'unreadThreads'] as const;

/** What a client may set. */
export const SETTABLE = ['name', 'parentId', 'role', 'sortOrder', 'isSubscribed'] as const;

/** All properties of a Mailbox. RFC 8621 2. */
export const MAILBOX_PROPERTIES: ReadonlySet<string> = new Set(['id', ...SETTABLE, ...COUNTS, 'myRights']);

/** The Mailbox object of a node. */
export function mailboxObject(node: MailboxNode, access: Access): Record<string, unknown> & { id: string } {
  return {
    id: jmapId('mailbox', node.id),
    name: node.name,
    parentId: node.parent === 0 ? null : jmapId('mailbox', node.parent),
    role: node.role,
    sortOrder: node.sortOrder,
    totalEmails: node.emails,
    unreadEmails: node.unread,
    totalThreads: node.threads ?? 0,
    unreadThreads: node.unreadThreads ?? 0,
    myRights: rights(node, !access.readOnly),
    isSubscribed: node.subscribed === 1,
  };
}

/** The inbox stays where it is and what it is called: IMAP knows it by its name. */
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
