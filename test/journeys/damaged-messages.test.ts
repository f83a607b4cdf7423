import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { databaseOfBox } from '../support/box-database.ts';
import { JmapClient, listOf } from '../support/jmap-client.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { organizationBox, tool } from '../support/mcp.ts';
import { onPostgres } from '../support/test-database.ts';

const PAGE = 4096;
const DAMAGED = 'failed to read a stored message: restore it from a backup';
const address = 'anna@read.test';
let box: Box;
let base: string;
let token: string;
let password: string;

/** PostgreSQL compresses what repeats, and keeps it in the row then. */
const filling = (name: string): string =>
  onPostgres
    ? `${name} ${randomBytes(30_000).toString('hex').replaceAll(/.{60}/g, '$&\r\n')}`
    : `${name} ${'x'.repeat(60)}\r\n`;

const message = (name: string, octets: number): Buffer =>
  Buffer.from(
    `From: Bert <bert@read.test>\r\nTo: anna@read.test\r\nSubject: ${name}\r\n\r\n` +
      `begin-${name} needle\r\n`.padEnd(Math.max(0, octets - 100), filling(name)),
  );

const MESSAGES = { whole1: 500, missing: 300_000, cutoff: 700_000, paged: 40_000, whole2: 90_000, whole3: 600 };

beforeAll(async () => {
  ({ box, base, token } = await organizationBox('Readers'));
  const ask = async (name: string, args: object): Promise<Record<string, unknown>> => {
    const { status, body, text } = await tool(base, name, args, token);
    if (status >= 300) throw new Error(text);
    return body;
  };
  await ask('add_email_domain', { domain: 'read.test' });
  await ask('verify_email_domain', { domain: 'read.test' });
  await ask('provision_email', { domain: 'read.test', localPart: 'anna' });
  const profile = (await ask('reveal_email_credentials', { address })) as { imap: { password: string } };
  ({ password } = profile.imap);
  using reader = await open();
  for (const [name, octets] of Object.entries(MESSAGES)) {
    expect(await reader.append('INBOX', message(name, octets))).toMatch(/ OK /);
  }
  await box.stop();
  await damage();
  await box.start();
});
afterAll(() => box[Symbol.asyncDispose]());

/** Removes one file, cuts another off, and damages a message in its row. */
async function damage(): Promise<void> {
  const folder = join(box.dataDir, 'blobs');
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    const text = await readFile(path, 'latin1').catch(() => '');
    if (text.includes('begin-missing')) await rm(path);
    if (text.includes('begin-cutoff')) await truncate(path, 400_000);
  }
  const database = await databaseOfBox(box.dataDir);
  await (onPostgres ? damageRow(database) : damagePage(database));
}

/** PostgreSQL keeps the octets of a large row in parts beside the table: removes those of all rows. */
async function damageRow(url: string): Promise<void> {
  const killed = `DO $$ DECLARE parts regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = 'mailstead.blob'::regclass);
    BEGIN EXECUTE format('SELECT public.heap_force_kill(%L, ARRAY(SELECT ctid FROM %s))', parts, parts); END $$`;
  const extension = 'CREATE EXTENSION pg_surgery SCHEMA public';
  await promisify(execFile)('psql', [url, '-v', 'ON_ERROR_STOP=1', '-c', extension, '-c', killed]);
}

/** An overflow page begins with the number of the next one, and is full of the message: overwrites that number. */
async function damagePage(database: string): Promise<void> {
  const db = new DatabaseSync(database);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  const octets = await readFile(database);
  const page = Array.from({ length: octets.length / PAGE }, (_, at) => at * PAGE).find(
    (at) => octets.readUInt32BE(at) > 0 && octets.toString('latin1', at + 4, at + PAGE).split('paged xxxx').length > 50,
  );
  octets.fill(0xff, page, page! + 4);
  await writeFile(database, octets);
}

const open = (): Promise<MailboxReader> => MailboxReader.open(box.port('imap'), address, password);

test('the start finds the damaged files, and the status says so', async () => {
  const reported = (size: number): boolean => box.log.filter(({ msg }) => msg === DAMAGED).length === size;
  await box.logged(() => reported(2), 'two damaged files');
  expect(await box.ask('get_status')).toMatchObject({ failing: [], unreadableMessages: 2 });
  const { stdout } = await promisify(execFile)(join(import.meta.dirname, '../../bin/mailstead'), ['status'], {
    env: box.env,
  });
  expect(stdout).toMatch(/storage +2 messages are damaged: see the log, restore a backup/);
});

test('FETCH answers with what is there, says so and goes on', async () => {
  using reader = await open();
  await reader.command('SELECT INBOX');
  const all = (await reader.command('FETCH 1:* (UID RFC822.SIZE ENVELOPE BODY.PEEK[])')).toString('latin1');
  for (const whole of ['whole1', 'whole2', 'whole3']) expect(all).toContain(`begin-${whole}`);
  expect(all).toMatch(/\* 2 FETCH \(UID 2 RFC822\.SIZE \d+ ENVELOPE \(.*"missing".*\) BODY\[\] NIL\)/);
  expect(all).toContain('begin-cutoff');
  expect(all).toMatch(/\* 4 FETCH \(UID 4 RFC822\.SIZE \d+ ENVELOPE \(.*"paged".*\) BODY\[\] NIL\)/);
  expect(all).toMatch(/ NO \[CORRUPTION\] 3 messages, the first with UID 2, cannot be read completely/);
  const one = (await reader.command('UID FETCH 2 (BODY.PEEK[HEADER.FIELDS (SUBJECT)])')).toString('latin1');
  expect(one).toMatch(
    /BODY\[HEADER\.FIELDS \(SUBJECT\)\] NIL\)\r\n\d+ NO \[CORRUPTION\] The message with UID 2 cannot/,
  );
  expect((await reader.command('FETCH 1,5,6 BODY.PEEK[]')).toString('latin1')).toMatch(/ OK Fetched\r\n$/);
});

test('SEARCH finds the others', async () => {
  using reader = await open();
  await reader.command('SELECT INBOX');
  const found = (await reader.command('SEARCH BODY needle')).toString('latin1');
  expect(found).toMatch(/\* SEARCH 1 (?:3 )?5 6\r\n\d+ OK/);
  expect((await reader.command('SEARCH HEADER SUBJECT whole')).toString('latin1')).toMatch(/\* SEARCH 1 5 6\r\n\d+ OK/);
});

test('JMAP answers with what is there', async () => {
  const jmap = await JmapClient.discover(base, { user: address, password });
  const { ids } = (await jmap.call('Email/query', { sort: [{ property: 'receivedAt' }] })) as { ids: string[] };
  expect(ids).toHaveLength(6);
  const properties = ['subject', 'blobId', 'bodyValues', 'textBody', 'header:X-None', 'preview'];
  const list = listOf(await jmap.call('Email/get', { ids, properties, fetchTextBodyValues: true }));
  const values = Object.fromEntries(
    list.map((one) => [one['subject'], Object.values(one['bodyValues'] as Record<string, { value: string }>)[0]]),
  );
  expect(Object.keys(values).toSorted()).toEqual(Object.keys(MESSAGES).toSorted());
  for (const name of ['missing', 'paged']) {
    expect(values[name]).toMatchObject({ value: expect.stringContaining('damaged'), isEncodingProblem: true });
  }
  for (const name of ['whole1', 'whole2', 'whole3', 'cutoff']) expect(values[name]?.value).toContain(`begin-${name}`);
  for (const { subject, blobId } of list as { subject: string; blobId: string }[]) {
    const got = jmap.download(blobId);
    if (subject.startsWith('whole')) expect(String(await got)).toContain(`begin-${subject}`);
    else await expect(got).rejects.toThrow(/^404 /);
  }
  const gets = (await jmap.call('Blob/get', { ids: list.map((one) => one['blobId']), properties: ['size'] })) as never;
  expect((gets as { notFound: unknown[]; list: unknown[] }).list).toHaveLength(3);
  const snippets = await jmap.call('SearchSnippet/get', { emailIds: ids, filter: { body: 'needle' } });
  expect(listOf(snippets)).toHaveLength(5);
  const byHeader = await jmap.call('Email/query', { filter: { header: ['Subject', 'whole'] } });
  expect(byHeader['ids']).toHaveLength(3);
  const byText = (await jmap.call('Email/query', { filter: { body: 'needle' } })) as { ids: string[] };
  expect(byText.ids.length).toBeGreaterThanOrEqual(3);
});

test('JMAP does not send a damaged message, and says why', async () => {
  const jmap = await JmapClient.discover(base, { user: address, password });
  const { ids } = (await jmap.call('Email/query', { sort: [{ property: 'receivedAt' }] })) as { ids: string[] };
  const identityId = String(listOf(await jmap.call('Identity/get', {}))[0]?.['id']);
  const envelope = { mailFrom: { email: address }, rcptTo: [{ email: address }] };
  const create = Object.fromEntries(ids.slice(1, 4).map((emailId) => [emailId, { identityId, emailId, envelope }]));
  const { notCreated } = (await jmap.call('EmailSubmission/set', { create })) as { notCreated: object };
  const error = { type: 'serverFail', description: expect.stringContaining('damaged on the server') as string };
  expect(Object.values(notCreated)).toEqual([error, error, error]);
  expect(box.log.filter(({ msg }) => msg === 'failed to change an object of a JMAP call')).toEqual([]);
});

test('tools answer with what is there', async () => {
  const listed = await tool(base, 'list_messages', { mailbox: address, limit: 20 }, token);
  const { messages } = listed.body as { messages: { id: string; untrusted: { subject: string } }[] };
  expect(messages.map(({ untrusted }) => untrusted.subject).toSorted()).toEqual(Object.keys(MESSAGES).toSorted());
  let damaged = 0;
  for (const { id: messageId } of messages) {
    const { status, text } = await tool(base, 'get_message', { mailbox: address, messageId }, token);
    expect(status, text).toBeLessThan(300);
    if (text.includes('This text cannot be read')) damaged += 1;
    if (!/missing|paged/.test(text)) expect(text).toContain('begin-');
  }
  expect(damaged).toBe(2);
});

test('each damaged message is in the log once', () => {
  const lines = box.log.filter(({ msg }) => msg === DAMAGED);
  expect(lines).toHaveLength(3);
});
