import { type MailboxNode, mailboxTree } from '../../store/mailbox-tree.ts';
import { countThreads, keepThreadCounts } from '../../store/thread-counts.ts';
import type { JmapDesk } from '../method.ts';

/** Tries to count beside everybody's work before it is counted where everybody waits. */
const TRIES = 3;

/**
 * The mailboxes of an account, or those named, with all their counters. Threads are counted first where nobody has yet:
 * in accounts from before JMAP, after another trash, after a large mailbox was removed.
 */
export async function countedTree(
  desk: JmapDesk,
  account: number,
  ids: readonly number[] | null,
): Promise<{ state: number; nodes: MailboxNode[] }> {
  const tree = await desk.store.read(mailboxTree, { account, ids });
  if (tree.nodes.every((node) => node.threads !== null)) return tree;
  await countAll(desk, account);
  return desk.store.read(mailboxTree, { account, ids });
}

async function countAll({ store }: JmapDesk, account: number): Promise<void> {
  for (let tried = 0; tried < TRIES; tried++) {
    const found = await store.scan(countThreads, { account });
    if ((await store.write(keepThreadCounts, { account, found })) === 'kept') return;
  }
  await store.write(keepThreadCounts, { account, found: null });
}
