import { jmapId } from '../../mail/jmap/core/ids.ts';
import { query } from '../../mail/store/engine/types.ts';
import type { JmapFixture } from './jmap-fixture.ts';

/** All JMAP objects of an account by id, computed from the tables without the tested code. */
export interface ExpectedObjects {
  Email: Map<string, Record<string, unknown>>;
  Thread: Map<string, Record<string, unknown>>;
  Mailbox: Map<string, Record<string, unknown>>;
}

interface EntryRow extends Record<string, string | number | null> {
  email: number;
  thread: number;
  received: number;
  mailbox: number;
  flags: number;
  kw: string | null;
}

interface MailboxRow extends Record<string, string | number | null> {
  id: number;
  parent: number;
  name: string;
  role: string | null;
  sortOrder: number;
  subscribed: number;
}

const allRows = query('test-truth', async (rx, input: { account: number }) => ({
  entries: await rx.all<EntryRow>(
    `SELECT e.id AS email, e.thread_id AS thread, e.received_at AS received, n.mailbox_id AS mailbox, n.flags, n.kw
     FROM mailbox m JOIN entry n ON n.mailbox_id = m.id JOIN email e ON e.id = n.email_id
     WHERE m.account_id = ? AND m.deleted_at IS NULL AND n.flags & 16 = 0 ORDER BY e.received_at, e.id, n.mailbox_id`,
    input.account,
  ),
  mailboxes: await rx.all<MailboxRow>(
    `SELECT id, parent_id AS parent, name, role, sort_order AS sortOrder, subscribed FROM mailbox
     WHERE account_id = ? AND deleted_at IS NULL ORDER BY id`,
    input.account,
  ),
}));

export async function readExpectedObjects({
  box,
  account,
}: Pick<JmapFixture, 'box' | 'account'>): Promise<ExpectedObjects> {
  const { entries, mailboxes } = await box.store.read(allRows, { account });
  const Email: ExpectedObjects['Email'] = new Map();
  const threads = new Map<string, string[]>();
  for (const row of entries) {
    const id = jmapId('email', row.email);
    const threadId = jmapId('thread', row.thread);
    const known = Email.get(id);
    const face = `${row.flags} ${row.kw ?? ''}`;
    if (known === undefined) threads.set(threadId, [...(threads.get(threadId) ?? []), id]);
    else if (known['keywords'] !== face) throw new Error(`${id} has other keywords in another mailbox`);
    const mailboxIds = [...((known?.['mailboxIds'] as string[] | undefined) ?? []), jmapId('mailbox', row.mailbox)];
    Email.set(id, { threadId, mailboxIds, keywords: face });
  }
  return {
    Email,
    Thread: new Map([...threads].map(([id, emailIds]) => [id, { emailIds }])),
    Mailbox: new Map(mailboxes.map((row) => [jmapId('mailbox', row.id), mailboxOf(row, entries, mailboxes)])),
  };
}

/** Computes counters literally as in RFC 8621 2, without optimization. */
function mailboxOf(
  row: MailboxRow,
  entries: readonly EntryRow[],
  mailboxes: readonly MailboxRow[],
): Record<string, unknown> {
  const trash = mailboxes.find((one) => one.role === 'trash')?.id;
  const isUnread = (one: EntryRow): boolean => (one.flags & 1) === 0 && (one.flags & 8) === 0;
  const here = entries.filter((one) => one.mailbox === row.id);
  const outside = new Set(entries.filter((one) => one.mailbox !== trash).map((one) => one.email));
  const inTrash = new Set(entries.filter((one) => one.mailbox === trash).map((one) => one.email));
  const counts = row.id === trash ? inTrash : outside;
  const unread = new Set(entries.filter((one) => isUnread(one) && counts.has(one.email)).map((one) => one.thread));
  const threads = new Set(here.map((one) => one.thread));
  return {
    name: row.name,
    parentId: row.parent === 0 ? null : jmapId('mailbox', row.parent),
    role: row.role,
    sortOrder: row.sortOrder,
    isSubscribed: row.subscribed === 1,
    totalEmails: here.length,
    unreadEmails: here.filter(isUnread).length,
    totalThreads: threads.size,
    unreadThreads: [...threads].filter((thread) => unread.has(thread)).length,
  };
}
