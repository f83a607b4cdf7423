import { expect, test, vi } from 'vitest';
import { MailboxWatch } from '../../../mail/imap/notify/mailbox-watch.ts';
import { imapWorld } from '../../support/imap-world.ts';
import type { ImapClient, ImapWorld } from '../../support/imap-world.ts';
import type { FakeImapStore } from '../../support/fake-imap-store.ts';
import { sharingWorld } from '../../support/sharing-world.ts';

const SENT = 'NOTIFY SET (mailboxes Sent (MessageNew MessageExpunge))';
const ALL = 'NOTIFY SET (subtree "Other Users" (MailboxName MessageNew MessageExpunge SubscriptionChange))';
const TEAM = '"Other Users/ann@box.test/Team"';

const append = (client: ImapClient, mailbox: string): Promise<string[]> =>
  client.command(`APPEND ${mailbox} {14+}\r\nSubject: a\r\n\r\n`);

test('a store that cannot be read ends the notifications, and the client is informed', async () => {
  await using world = await imapWorld();
  const client = await world.client();
  await client.command(SENT);
  const read = vi.spyOn(world.store, 'mailboxes').mockRejectedValue(new Error('disk'));
  world.store.deliver('Sent', 'Subject: a\n\nb\n');
  expect(await client.line()).toMatch(/^\* OK \[NOTIFICATIONOVERFLOW\] /);
  expect(world.store.listeners.size).toBe(0);
  read.mockRestore();
  world.store.deliver('Sent', 'Subject: a\n\nb\n');
  expect(await client.command('NOOP')).toEqual(['t OK NOOP completed']);
  expect((await client.command(SENT)).at(-1)).toMatch(/^t OK/);
});

test('an account with more mailboxes than a session may remember is refused', async () => {
  await using world = await imapWorld();
  const client = await world.client();
  const [inbox] = await world.store.mailboxes();
  const many = Array.from({ length: 5_001 }, (_, at) => ({ ...inbox!, id: at + 1, name: `box ${at}` }));
  vi.spyOn(world.store, 'mailboxes').mockResolvedValue(many);
  expect(await client.command(SENT)).toEqual(['t NO [NOTIFICATIONOVERFLOW] Too many mailboxes to notify of']);
  expect(world.store.listeners.size).toBe(0);
});

test('the METADATA entries that wait for a client that does not read are bounded', () => {
  const watch = new MailboxWatch();
  for (let at = 0; at < 1_000; at += 1) watch.addMetadata(1, [`/private/e${at}`]);
  expect(watch.isOverflowing).toBe(false);
  watch.addMetadata(1, ['/private/more']);
  expect(watch.isOverflowing).toBe(true);
  watch.clear();
  expect([watch.isOverflowing, watch.hasMetadata]).toEqual([false, false]);
});

test('a thousand changes at once are reported together, not one by one', async () => {
  await using world = await imapWorld();
  const client = await world.client();
  await client.command(SENT);
  for (let at = 0; at < 1_000; at += 1) world.store.deliver('Sent', 'Subject: a\n\nb\n');
  const lines = await client.until((line) => line.includes('MESSAGES 1000 '));
  expect(lines.length).toBeLessThan(10);
});

test('a session that ends, logs out or requests nothing more is no longer notified', async () => {
  await using world = await imapWorld();
  const [ended, loggedOut, silent] = [await world.client(), await world.client(), await world.client()];
  for (const client of [ended, loggedOut, silent]) await client.command(SENT);
  expect(world.store.listeners.size).toBe(3);
  await silent.command('NOTIFY NONE');
  await loggedOut.command('UNAUTHENTICATE');
  ended.socket.destroy();
  await expect.poll(() => world.store.listeners.size).toBe(0);
});

test('a client that does not read is notified of the last state when it reads again', async () => {
  await using world = await imapWorld();
  const client = await world.client();
  const text = 'x'.repeat(1024 * 1024);
  for (let at = 0; at < 8; at += 1) world.store.deliver('INBOX', `Subject: a\n\n${text}\n`);
  await client.command('SELECT INBOX');
  await client.command(SENT);
  client.socket.pause();
  client.send('f FETCH 1:8 (BODY.PEEK[])\r\n');
  for (let at = 0; at < 50; at += 1) world.store.deliver('Sent', 'Subject: a\n\nb\n');
  client.socket.resume();
  const lines = await client.until((line) => line.startsWith('f OK'));
  const statuses = lines.filter((line) => line.startsWith('* STATUS'));
  expect(statuses).toEqual(['* STATUS Sent (MESSAGES 50 UIDNEXT 51 UIDVALIDITY 1003 UNSEEN 50)']);
});

test('shared mailboxes: a new share, its messages, the subscription and the end of the share', async () => {
  await using world = await sharingWorld();
  const [ann, bob, cyd] = [await world.client('ann'), await world.client('bob'), await world.client('cyd')];
  await ann.command('CREATE Team');
  for (const client of [bob, cyd]) await client.command(ALL);
  await ann.command('SETACL Team bob@box.test lr');
  expect(await bob.line()).toBe(`* LIST (\\HasNoChildren) "/" ${TEAM}`);
  await append(ann, 'Team');
  expect(await bob.line()).toContain(`* STATUS ${TEAM} (MESSAGES 1 UIDNEXT 2 `);
  const second = await world.client('bob');
  await second.command(`SUBSCRIBE ${TEAM}`);
  expect(await bob.line()).toBe(`* LIST (\\HasNoChildren \\Subscribed) "/" ${TEAM}`);
  await ann.command('DELETEACL Team bob@box.test');
  expect(await bob.line()).toBe(`* LIST (\\NonExistent) "/" ${TEAM}`);
  await append(ann, 'Team');
  for (const client of [bob, cyd]) expect(await client.command('NOOP')).toEqual(['t OK NOOP completed']);
  expect(world.faults).toEqual([]);
});

test('shared mailboxes: only their /shared/ entries are reported to others', async () => {
  await using world = await sharingWorld();
  const [ann, bob, eve] = [await world.client('ann'), await world.client('bob'), await world.client('eve')];
  await ann.command('CREATE Team');
  await ann.command('SETACL Team bob@box.test lr');
  const request = 'NOTIFY SET (subtree "Other Users" (MailboxMetadataChange)) (personal (ServerMetadataChange))';
  for (const client of [bob, eve]) await client.command(request);
  await ann.command('SETMETADATA Team (/private/comment "mine" /shared/comment "ours")');
  expect(await bob.line()).toBe(`* METADATA ${TEAM} "/shared/comment"`);
  await ann.command('SETMETADATA "" (/private/comment "mine")');
  for (const client of [bob, eve]) expect(await client.command('NOOP')).toEqual(['t OK NOOP completed']);
});

/** Reports of names, of a client that knows these mailboxes, after changes of others and its own. */
async function reportsAfter(
  known: readonly string[],
  change: (world: ImapWorld, watch: MailboxWatch) => Promise<void>,
): Promise<string[]> {
  await using world = await imapWorld();
  const watch = new MailboxWatch();
  for (const name of known) await world.store.create(name);
  watch.reset(await world.store.mailboxes());
  await change(world, watch);
  const context = {
    events: () => new Set(['MailboxName'] as const),
    selected: undefined,
    utf8: false,
    condstore: false,
    isOwn: (name: string) => watch.isOwn(name),
    status: () => '',
  };
  const responses = [...watch.changes(await world.store.mailboxes(), context)];
  return responses.filter((response) => response !== '').map((response) => response.trim());
}

test('an own change hides nothing that others did to mailboxes of that name, or below it', async () => {
  const reports = await reportsAfter(['a'], async ({ store }, watch) => {
    await store.create('a/theirs');
    await store.rename('a', 'b');
    await store.create('a');
    watch.addOwn({ kind: 'created', name: 'a' });
  });
  expect(reports).toEqual([
    '* LIST (\\HasChildren) "/" b ("OLDNAME" ("a"))',
    '* LIST (\\HasNoChildren) "/" b/theirs',
    '* LIST (\\HasNoChildren) "/" a',
  ]);
});

test.each([
  [
    'deletes and creates',
    (store: FakeImapStore): Promise<unknown> => store.remove('b'),
    ['* LIST (\\NonExistent) "/" b'],
  ],
  [
    'renames and creates',
    (store: FakeImapStore): Promise<unknown> => store.rename('b', 'c'),
    ['* LIST (\\HasNoChildren) "/" c ("OLDNAME" ("b"))'],
  ],
])('a mailbox that the client renamed and another session %s again is reported', async (_what, remove, gone) => {
  const reports = await reportsAfter(['a'], async ({ store }, watch) => {
    await store.rename('a', 'b');
    watch.addOwn({ kind: 'renamed', from: 'a', to: 'b' });
    await remove(store);
    await store.create('b');
  });
  expect(reports).toEqual([...gone, '* LIST (\\HasNoChildren) "/" b']);
});

test('a mailbox that another session creates under the old name of one that the client created is reported', async () => {
  const reports = await reportsAfter([], async ({ store }, watch) => {
    await store.create('a');
    watch.addOwn({ kind: 'created', name: 'a' });
    await store.rename('a', 'b');
    watch.addOwn({ kind: 'renamed', from: 'a', to: 'b' });
    await store.create('a');
  });
  expect(reports).toEqual(['* LIST (\\HasNoChildren) "/" a']);
});
