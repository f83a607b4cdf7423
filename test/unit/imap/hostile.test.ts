import { expect, test } from 'vitest';
import { PATIENT } from '../../support/imap-fuzz.ts';
import { imapWorld } from '../../support/imap-world.ts';

/** What is sent after the tag, and how the tagged answer begins. CVE-2024-34055, CVE-2025-61600. */
const AFTER_LOGIN: [string, string, string][] = [
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
  ['a name of 10 kB', `CREATE ${'a'.repeat(10_000)}`, 't BAD'],
  ['a name 200 levels deep', `CREATE ${'a/'.repeat(200)}a`, 't BAD'],
];

test.each(AFTER_LOGIN)('%s', async (_, command, answer) => {
  await using world = await imapWorld({ limits: PATIENT });
  world.store.deliver('INBOX', 'Subject: a\n\nb\n');
  const client = await world.client('INBOX');
  const began = process.cpuUsage();
  const lines = await client.command(command);
  const { user, system } = process.cpuUsage(began);
  expect(lines.at(-1)?.slice(0, answer.length)).toBe(answer);
  expect((user + system) / 1e6).toBeLessThan(1);
  const [after] = (await client.command('NOOP', 'after')).slice(-1);
  expect(after).toBe('after OK Nothing done');
  expect(world.faults).toEqual([]);
});

test('patterns are prepared once, not for each of many mailboxes, and have a bound', async () => {
  await using world = await imapWorld({ limits: PATIENT });
  const client = await world.client();
  const many = { ...(await world.store.mailboxes())[0]!, name: `${'a'.repeat(50)}/b`, hasChildren: false };
  world.store.mailboxes = () => Promise.resolve(Array.from({ length: 2000 }, (_, id) => ({ ...many, id })));
  const began = process.cpuUsage();
  const long = '%a'.repeat(15_000);
  expect((await client.command(`LIST "" (${long} ${long})`)).at(-1)).toMatch(/^t BAD /);
  expect((await client.command(`LIST "" (${Array(40).fill('%a'.repeat(45)).join(' ')})`)).at(-1)).toBe('t OK Listed');
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1e6).toBeLessThan(2);
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
  const began = performance.now();
  let [last, longest, over] = [began, 0, false];
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!over) setImmediate(look);
  };
  look();
  expect((await client.command(`FETCH 1 (${items})`)).at(-1)).toBe('t OK Fetched');
  over = true;
  expect(longest).toBeLessThan((performance.now() - began) / 2);
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
