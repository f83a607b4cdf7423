import type { MailboxNode } from '../../store/mailbox/mailbox-tree.ts';
import { jmapId } from '../core/ids.ts';

/** The Mailbox object without myRights. */
export function mailboxFacts(node: MailboxNode): Record<string, unknown> & { id: string } {
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
    isSubscribed: node.subscribed === 1,
  };
}
