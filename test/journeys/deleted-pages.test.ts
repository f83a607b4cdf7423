import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { operatorOf, type Visitor } from '../support/visitor.ts';

const MESSAGES = 130;
/** For a start on a busy machine. */
const START_MS = 300_000;

let box: Box;
let person: Visitor;
beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  person = await operatorOf(box);
}, START_MS);
afterAll(() => box[Symbol.asyncDispose]());

interface DeletedPage {
  messages: { subject: string; deletedAt: string }[];
  nextCursor: string | null;
}

test('all messages that one command expunged are listed, by tool and on the page, and purged at once', async () => {
  using imap = await MailboxReader.open(box.port('imap'));
  for (let n = 1; n <= MESSAGES; n++)
    await imap.append('INBOX', Buffer.from(`Subject: message-${n}-\r\n\r\nText.\r\n`));
  await imap.command('SELECT INBOX');
  await imap.command('STORE 1:* +FLAGS.SILENT (\\Deleted)');
  await imap.command('EXPUNGE');
  const expected = Array.from({ length: MESSAGES }, (_, n) => `message-${n + 1}-`).toSorted();

  const listed: DeletedPage['messages'] = [];
  for (let cursor: string | undefined, more = true; more;) {
    const input = { address: box.address, ...(cursor !== undefined && { cursor }) };
    const page = (await box.ask('list_deleted_messages', input)) as DeletedPage;
    listed.push(...page.messages);
    more = page.nextCursor !== null;
    cursor = page.nextCursor ?? undefined;
  }
  expect(listed.map(({ subject }) => subject).toSorted()).toEqual(expected);
  await expect(box.ask('list_deleted_messages', { address: box.address, cursor: '1' })).rejects.toThrow('cursor');

  const { mailboxes } = (await box.ask('list_box_mailboxes')) as { mailboxes: { id: number; address: string }[] };
  const id = mailboxes.find(({ address }) => address === box.address)?.id;
  const seen: string[] = [];
  for (let path: string | undefined = `/o/org_1/mailboxes/mbx_${id}/deleted`; path !== undefined;) {
    const { text }: { text: string } = await person.get(path);
    seen.push(...(text.match(/message-\d+-/g) ?? []));
    path = /<p class="pages">\s*<a href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  expect([...new Set(seen)].toSorted()).toEqual(expected);

  expect(await box.ask('purge_deleted_messages', { address: box.address })).toEqual({ purged: true });
  expect(await box.ask('list_deleted_messages', { address: box.address })).toEqual({ messages: [], nextCursor: null });
});
