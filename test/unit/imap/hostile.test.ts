import { expect, test } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import { PATIENT } from '../../support/imap-fuzz.ts';
import { imapWorld, type ImapWorld } from '../../support/imap-world.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const MESSAGE = '{9+}\r\nA: b\r\n\r\nc';
const FLAGGED = `(\\Seen \\Flagged \\Answered Keyword) "01-Jan-2020 10:00:00 +0000" ${MESSAGE}`;

/** Input after the tag, and the begin of the tagged response. CVE-2024-34055, CVE-2025-61600. */
const AFTER_LOGIN: readonly [string, string, string][] = [
  ['10,000 literals', `SEARCH ${'SUBJECT {1+}\r\na '.repeat(10_000)}ALL`, 't BAD'],
  ['OR nested 10,000 deep', `SEARCH ${'OR '.repeat(10_000)}ALL`, 't BAD'],
  ['NOT nested 10,000 deep', `SEARCH ${'NOT '.repeat(10_000)}ALL`, 't BAD'],
  ['10,000 open lists', `SEARCH ${'('.repeat(10_000)}`, 't BAD'],
  ['a set of 60 kB', `UID FETCH ${'1:*,'.repeat(15_000)}1 (UID)`, 't OK'],
  ['a line over 64 KiB', `UID FETCH ${'1:*,'.repeat(30_000)}1 (UID)`, 't BAD [TOOBIG]'],
  ['numbers beyond all messages', 'FETCH 1:4294967295 BODY[]<0.4294967295>', 't BAD'],
  ['UIDs and octets beyond all', 'UID FETCH 1:4294967295 BODY.PEEK[]<0.4294967295>', 't OK'],
  ['a part that is not there', 'UID FETCH 1 BODY.PEEK[1.2.3.4.5.6.7.8.9.10.11.12]', 't OK'],
  ['a pattern of 200 wildcards', `LIST "" "${'*%'.repeat(100)}x"`, 't OK'],
  ['200 patterns', `LIST "" (${'"*a*b*c" '.repeat(200).trim()})`, 't BAD'],
  ['a literal beyond all numbers', 'LOGIN {99999999999999999999}', 't BAD'],
  ['a literal of 4 GB', 'APPEND INBOX {4294967295}', 't NO [TOOBIG]'],
  // RFC 9738: SAVELIMIT.
  ['an APPEND of 1,000 messages with flags and dates', `APPEND INBOX${` ${FLAGGED}`.repeat(1000)}`, 't OK [APPENDUID'],
  ['an APPEND of 1,001 messages', `APPEND INBOX${` ${MESSAGE}`.repeat(1001)}`, 't NO [MESSAGELIMIT 1000]'],
  ['a message of 1,001 parts', `APPEND INBOX CATENATE (TEXT {0+}\r\n${' TEXT {0+}\r\n'.repeat(1000)})`, 't BAD'],
  ['a name of 10 kB', `CREATE ${'a'.repeat(10_000)}`, 't NO [CANNOT]'],
  ['a name 200 levels deep', `CREATE ${'a/'.repeat(200)}a`, 't NO [CANNOT]'],
];

test.each(AFTER_LOGIN)('%s', async (_, command, answer) => {
  await using world = await imapWorld({ limits: PATIENT });
  world.store.deliver('INBOX', 'Subject: a\n\nb\n');
  const client = await world.client('INBOX');
  const lines = await client.command(command);
  expect(lines.at(-1)?.slice(0, answer.length)).toBe(answer);
  const [after] = (await client.command('NOOP', 'after')).slice(-1);
  expect(after).toBe('after OK NOOP completed');
  expect(world.faults).toEqual([]);
});

/** Commands of so many octets. */
const GROWING: readonly [string, (size: number) => string][] = [
  ['literals', (size) => `SEARCH ${'SUBJECT {1+}\r\na '.repeat(size / 16)}ALL`],
  ['nested OR', (size) => `SEARCH ${'OR '.repeat(size / 3)}ALL`],
  ['nested NOT', (size) => `SEARCH ${'NOT '.repeat(size / 4)}ALL`],
  ['open lists', (size) => `SEARCH ${'('.repeat(size)}`],
  ['a set', (size) => `UID FETCH ${'1:*,'.repeat(size / 4)}1 (UID)`],
  ['patterns', (size) => `LIST "" (${'"*a*b*c" '.repeat(size / 9).trim()})`],
  ['a long name', (size) => `CREATE ${'a'.repeat(size)}`],
  ['a deep name', (size) => `CREATE ${'a/'.repeat(size / 2)}a`],
];

test.each(GROWING)('%s cost time by their length', async (_, command) => {
  await using world = await imapWorld({ limits: PATIENT });
  world.store.deliver('INBOX', 'Subject: a\n\nb\n');
  const client = await world.client('INBOX');
  expect(await growth((size) => client.command(command(size)), 40_000)).toBeLessThan(PROPORTIONAL);
});

test('patterns are prepared once, not for each of many mailboxes, and have a bound', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const many = { ...(await world.store.mailboxes())[0]!, name: `${'a'.repeat(50)}/b`, hasChildren: false };
  const list = async (mailboxes: number): Promise<void> => {
    world.store.mailboxes = () => Promise.resolve(Array.from({ length: mailboxes }, (_, id) => ({ ...many, id })));
    const patterns = Array(40).fill('%a'.repeat(45)).join(' ');
    expect((await client.command(`LIST "" (${patterns})`)).at(-1)).toBe('t OK Listed');
  };
  expect(await growth(list, 400)).toBeLessThan(PROPORTIONAL);
  const long = '%a'.repeat(15_000);
  expect((await client.command(`LIST "" (${long} ${long})`)).at(-1)).toMatch(/^t BAD /);
});

/** Gives the account many mailboxes of one name; counts how often a LIST looks at one. */
async function fillMailboxes({ store }: ImapWorld, name: string, count: number): Promise<{ seen: number }> {
  const counter = { seen: 0 };
  const [first] = await store.mailboxes();
  const all = Array.from({ length: count }, (_, id) => ({
    ...first!,
    name,
    id,
    get subscribed() {
      counter.seen += 1;
      return true;
    },
  }));
  store.mailboxes = () => Promise.resolve(all);
  return counter;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a STATUS item that is named often is returned once', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const [status] = await client
    .command(`LIST "" * RETURN (STATUS (${'UIDVALIDITY '.repeat(5_400).trim()}))`)
    .then((lines) => lines.filter((line) => line.startsWith('* STATUS')));
  expect(status).toMatch(/^\* STATUS INBOX \(UIDVALIDITY \d+\)$/);
  expect(await client.command(`STATUS INBOX (${'UIDNEXT '.repeat(5_400).trim()})`)).toMatchObject([
    expect.stringMatching(/^\* STATUS INBOX \(UIDNEXT \d+\)$/),
    expect.stringMatching(/^t OK/),
  ]);
});

test.each(['LIST (SUBSCRIBED RECURSIVEMATCH)', 'LSUB'])('%s waits for a client that does not read', async (verb) => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const count = 40_000;
  const listed = await fillMailboxes(world, 'a'.repeat(900), count);
  client.socket.pause();
  client.send(`t ${verb} "" *\r\n`);
  // Two looks at each mailbox; the kernel's buffers take the lines of 7,000 at most.
  for (let before = -1; before !== listed.seen; await pause(100)) before = listed.seen;
  expect(listed.seen).toBeGreaterThan(count);
  expect(listed.seen).toBeLessThan(1.5 * count);
  client.socket.resume();
  await client.until((line) => line.startsWith('t OK'));
});

test('without memory for answers a session sends one piece after the other', async () => {
  const memory = new MemoryBudget(64 * 1024);
  await using world = await imapWorld({ limits: PATIENT, memory });
  world.store.deliver('INBOX', `Subject: a\n\n${`${'b'.repeat(76)}\n`.repeat(40_000)}`);
  using others = memory.open(['others']);
  expect(others.tryGrow(60 * 1024)).toBe(true);
  const client = await world.client('INBOX');
  const [first, ...more] = await client.command('FETCH 1 BODY.PEEK[]');
  expect(first).toMatch(/^\* 1 FETCH \(BODY\[\] \{31/);
  expect(more.at(-1)).toBe('t OK Fetched');
  expect(memory.held).toBe(60 * 1024);
});

test('unread answers are counted for the account and its address until the session ends', async () => {
  const memory = new MemoryBudget(100 * 1024 * 1024);
  await using world = await imapWorld({ limits: PATIENT, memory });
  const client = await world.client();
  await fillMailboxes(world, 'a'.repeat(900), 40_000);
  client.socket.pause();
  client.send(`t LIST "" *\r\n`);
  while (memory.held === 0) await pause(5);
  expect(memory.heldBy('account 1')).toBe(memory.held);
  expect(memory.held).toBeLessThan(1024 * 1024);
  client.socket.destroy();
  while (memory.held > 0) await pause(5);
});

test('a LIST ends when its client is gone', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const count = 100_000;
  const compared = await fillMailboxes(world, `${'a'.repeat(900)}/b`, count);
  client.send(`t LIST (SUBSCRIBED) "" ${'%a'.repeat(400)}\r\n`);
  while (compared.seen === 0) await pause(1);
  client.socket.destroy();
  for (let before = -1; before !== compared.seen; await pause(100)) before = compared.seen;
  expect(compared.seen).toBeLessThan(count / 2);
});

test('a reference counts for each of its patterns', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const patterns = Array.from({ length: 100 }, (_, n) => `%a${n}`).join(' ');
  expect((await client.command(`LIST "" (${patterns})`)).at(-1)).toBe('t OK Listed');
  expect((await client.command(`LIST ${'%a'.repeat(400)} (${patterns})`)).at(-1)).toMatch(/^t BAD /);
  expect((await client.command(`LSUB ${'%a'.repeat(2000)} ${'%a'.repeat(2000)}`)).at(-1)).toMatch(/^t BAD /);
});

test('other sessions are served while a LIST takes long', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const [client, other] = [await world.client(), await world.client()];
  const many = { ...(await world.store.mailboxes())[0]!, name: `${'a'.repeat(900)}/b`, hasChildren: false };
  world.store.mailboxes = () => Promise.resolve(Array.from({ length: 500 }, (_, id) => ({ ...many, id })));
  const order: string[] = [];
  const listed = client.command(`LIST "" ${'%a'.repeat(400)}`).then(() => order.push('list'));
  await other.command('NOOP').then(() => order.push('noop'));
  await listed;
  expect(order).toEqual(['noop', 'list']);
});

test('the items of one message do not hold the event loop', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  world.store.deliver('INBOX', `${'a:\n'.repeat(16_000)}\nx\n`);
  const client = await world.client('INBOX');
  const items = Array.from({ length: 190 }, (_, i) => `BODY.PEEK[HEADER.FIELDS (X${i})]`).join(' ');
  let [turns, over] = [0, false];
  const look = (): void => {
    turns++;
    if (!over) setImmediate(look);
  };
  look();
  expect((await client.command(`FETCH 1 (${items})`)).at(-1)).toBe('t OK Fetched');
  over = true;
  expect(turns).toBeGreaterThan(5);
});

test.each([
  ['a line without an end', `a NOOP ${'('.repeat(100_000)}`],
  ['a literal that is not asked for, of 1 GB', 'a LOGIN {1000000000+}\r\n'],
  ['a line without an end where a response is due', `a AUTHENTICATE PLAIN\r\n${'A'.repeat(20_000)}`],
])('before login: %s', async (_, sent) => {
  await using world = await imapWorld();
  const client = await world.connect();
  client.send(sent);
  const lines = await client.until((line) => line.startsWith('* BYE') || / BAD /.test(line));
  expect(lines.at(-1)).toMatch(/^(?:\* BYE|a BAD|\* BAD) /);
});
