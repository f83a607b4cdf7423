import { ImapFlow } from 'imapflow';
import type { Page } from 'playwright-core';
import type { Box } from '../support/box.ts';
import { listOf } from '../support/jmap-client.ts';
import type { JmapMailbox } from '../support/jmap-mailbox.ts';

/** Folders that are compared. */
export const ROLES = ['inbox', 'archive', 'junk', 'trash', 'sent', 'drafts'] as const;
type RoleName = (typeof ROLES)[number];

/** A message as one interface shows it. */
export interface SeenMessage {
  role: RoleName;
  subject: string;
  seen: boolean;
  flagged: boolean;
  thread: string;
}

/** A thread in a folder as the list of web mail shows it. */
export interface SeenThread {
  role: RoleName;
  thread: string;
  unread: boolean;
  starred: boolean;
}

/** Sorted lines of messages. Ids of threads differ by interface, so a thread is named by its messages. */
export function linesOf(all: readonly SeenMessage[]): string[] {
  const name = ({ role, subject }: SeenMessage): string => `${role}/${subject}`;
  const threads = Map.groupBy(all, ({ thread }) => thread);
  return all
    .map((one) => {
      const mates = (threads.get(one.thread) ?? []).map(name).toSorted().join(' + ');
      return `${name(one)} seen=${one.seen} flagged=${one.flagged} thread=[${mates}]`;
    })
    .toSorted();
}

/** Everything by JMAP. */
export async function byJmap(mailbox: JmapMailbox): Promise<SeenMessage[]> {
  const properties = ['subject', 'keywords', 'threadId', 'mailboxIds'];
  const { list } = await mailbox.client.call('Email/get', { ids: null, properties });
  return listOf({ list }).flatMap((one) => {
    const keywords = one['keywords'] as Record<string, boolean>;
    const rest = {
      subject: String(one['subject']),
      seen: keywords['$seen'] === true,
      flagged: keywords['$flagged'] === true,
      thread: String(one['threadId']),
    };
    const positions = Object.keys(one['mailboxIds'] as object);
    return ROLES.filter((role) => positions.includes(mailbox.in(role))).map((role) => ({ role, ...rest }));
  });
}

/** Everything by IMAP, over a connection of its own. RFC 8474 for threads. */
export async function byImap(box: Box): Promise<SeenMessage[]> {
  const client = imapClient(box);
  await client.connect();
  const found: SeenMessage[] = [];
  const paths = await client.list();
  for (const role of ROLES) {
    const path = paths.find(({ specialUse = '' }) => specialUse.toLowerCase() === `\\${role}`)?.path ?? 'INBOX';
    if ((await client.mailboxOpen(path)).exists === 0) continue;
    for await (const { envelope, flags, threadId } of client.fetch('1:*', {
      envelope: true,
      flags: true,
      threadId: true,
    })) {
      const [seen, flagged] = [flags?.has(String.raw`\Seen`) === true, flags?.has(String.raw`\Flagged`) === true];
      found.push({ role, subject: envelope?.subject ?? '', seen, flagged, thread: threadId ?? '' });
    }
  }
  await client.logout();
  return found;
}

/** A mail program at the mailbox of local mode. */
export function imapClient(box: Box): ImapFlow {
  const auth = { user: box.address, pass: box.password };
  const tls = { rejectUnauthorized: false };
  return new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
}

interface ToolMessage {
  unread: boolean;
  starred: boolean;
  threadId: string;
  untrusted: { subject: string };
}

/** Everything by the tools of an agent. */
export async function byTools(call: (name: string, input: object) => Promise<object>): Promise<SeenMessage[]> {
  const found: SeenMessage[] = [];
  for (const role of ROLES) {
    const { messages } = (await call('list_messages', { folder: role, limit: 50 })) as { messages: ToolMessage[] };
    for (const { unread, starred, threadId, untrusted } of messages)
      found.push({ role, subject: untrusted.subject, seen: !unread, flagged: starred, thread: threadId });
  }
  return found;
}

/** Threads of the list of web mail, folder by folder. */
export async function byPage(page: Page, mailbox: JmapMailbox): Promise<string[]> {
  const found: SeenThread[] = [];
  for (const role of ROLES) {
    await page.evaluate(`location.hash = '#/${mailbox.in(role)}'`);
    await page.locator(`nav a[href="#/${mailbox.in(role)}"][aria-current]`).waitFor({ state: 'attached' });
    await page.locator('.list-head [role=status]', { hasText: /\d/ }).waitFor();
    await page.locator('.row.blank').first().waitFor({ state: 'detached' });
    const rows = (await page.evaluate(`[...document.querySelectorAll('.row')].map((row) => ({
      thread: row.querySelector('a').dataset.thread,
      unread: row.classList.contains('unread'),
      starred: row.querySelector('.star').getAttribute('aria-pressed') === 'true',
    }))`)) as Omit<SeenThread, 'role'>[];
    found.push(...rows.map((row) => ({ role, ...row })));
  }
  return threadLines(found);
}

/** Threads that the list of web mail has to show for these messages. */
export function expectedThreads(all: readonly SeenMessage[]): string[] {
  const threads = Map.groupBy(all, ({ thread }) => thread);
  const positions = new Map(all.map(({ role, thread }) => [`${role} ${thread}`, { role, thread }]));
  return threadLines(
    [...positions.values()].map(({ role, thread }) => {
      const members = threads.get(thread) ?? [];
      const unread = members.some((one) => !one.seen && one.role !== 'drafts');
      return { role, thread, unread, starred: members.some(({ flagged }) => flagged) };
    }),
  );
}

const threadLines = (all: readonly SeenThread[]): string[] =>
  all.map(({ role, thread, unread, starred }) => `${role} ${thread} unread=${unread} starred=${starred}`).toSorted();
