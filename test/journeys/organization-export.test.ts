import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Value } from '../../mail/store/engine/types.ts';
import type { Box } from '../support/box.ts';
import { rowsOfBox } from '../support/box-database.ts';
import { organizationBox, tool } from '../support/mcp.ts';
import { onPostgres } from '../support/test-database.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
/** Columns that no export may show. */
const SECRET = /hash|secret|salt|password|_key$|sealed|seal$|digest|challenge|public|print/;
const directory = mkdtempSync(join(tmpdir(), 'organization-export-'));
let box: Box;
let base: string;
let token: string;
const secrets: string[] = [];

beforeAll(async () => {
  ({ box, base, token } = await organizationBox('Leavers'));
  secrets.push(token);
  await ask('add_email_domain', { domain: 'leave.test' });
  await ask('verify_email_domain', { domain: 'leave.test' });
  const provisioned = await ask('provision_email', { domain: 'leave.test', localPart: 'anna' });
  const { mailbox } = provisioned as { mailbox: { id: string } };
  const { imap } = (await ask('reveal_email_credentials', { address: 'anna@leave.test' })) as {
    imap: { password: string };
  };
  secrets.push(imap.password);
  secrets.push(String((await ask('create_email_api_key', { name: 'shop' }))['secret']));
  const hook = await ask('create_webhook', { url: 'https://hook.example/in', events: ['email.bounced'] });
  secrets.push(String(hook['secret']));
  await ask('create_alias', { localPart: 'sales', domain: 'leave.test', mailboxIds: [mailbox.id] });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

async function ask(name: string, args: object): Promise<Record<string, unknown>> {
  const { status, body, text } = await tool(base, name, args, token);
  if (status >= 300) throw new Error(`${name}: ${text}`);
  return body;
}

const rows = (sql: string): Promise<Record<string, Value>[]> => rowsOfBox(box.dataDir, sql);

/** Columns of all tables. */
const COLUMNS = onPostgres
  ? `SELECT table_name AS "table", column_name AS "column", CASE data_type WHEN 'bytea' THEN 'BLOB' END AS type
     FROM information_schema.columns WHERE table_schema = 'mailstead'`
  : `SELECT t.name AS "table", c.name AS "column", c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`;

/** Every stored value that is a secret, in the forms in which a text could have it. */
async function storedSecrets(): Promise<string[]> {
  const columns = await rows(COLUMNS);
  const secret = columns.filter(({ column, type }) => type === 'BLOB' || SECRET.test(String(column)));
  const own = secret.filter(
    ({ table, column }) => !['blob', 'message_index'].includes(String(table)) && column !== 'email_key',
  );
  const found: string[] = [];
  for (const { table, column } of own) {
    const values = await rows(`SELECT "${String(column)}" AS value FROM "${String(table)}"`);
    found.push(...values.flatMap(({ value }) => formsOf(value ?? null)));
  }
  return found;
}

function formsOf(value: Value): string[] {
  if (value instanceof Uint8Array && value.length >= 8)
    return ['hex', 'base64', 'base64url'].map((form) => Buffer.from(value).toString(form as BufferEncoding));
  return typeof value === 'string' && value.length >= 8 ? [value] : [];
}

async function run(...words: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(COMMAND, [...words, '--data-dir', box.dataDir], { env: box.env });
}

test('an organization leaves with everything but mail and secrets, as JSON', async () => {
  const [{ slug } = {}] = await rows(`SELECT slug FROM organization WHERE name = 'Leavers'`);
  const path = join(directory, 'leavers.json');
  await run('organization', 'export', String(slug), path);
  const text = readFileSync(path, 'utf8');
  const found = JSON.parse(text) as Record<string, Record<string, unknown>[]>;
  expect(found['organization']).toMatchObject([{ slug, name: 'Leavers' }]);
  expect(found['domains']).toMatchObject([{ name: 'leave.test' }]);
  expect(found['mailboxes']).toMatchObject([{ address: 'anna@leave.test' }]);
  expect(found['aliasTargets']).toMatchObject([{ alias: 'sales@leave.test', mailbox: 'anna@leave.test' }]);
  expect(found['webhooks']).toMatchObject([{ url: 'https://hook.example/in' }]);
  expect(found['apiKeys']).toMatchObject([{ name: 'shop' }]);
  expect(found['audit']?.map(({ operation }) => operation)).toContain('create_webhook');
  expect(text).not.toContain('me@box.test');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const stored = await storedSecrets();
  expect(stored.length).toBeGreaterThan(10);
  expect([...secrets, ...stored].filter((secret) => text.includes(secret))).toEqual([]);
});

test('a file that exists stays, and an unknown organization leaves none', async () => {
  await expect(run('organization', 'export', 'leavers', join(directory, 'leavers.json'))).rejects.toThrow(/exists/);
  const path = join(directory, 'none.json');
  await expect(run('organization', 'export', 'nobody', path)).rejects.toThrow(/No organization nobody/);
  expect(() => statSync(path)).toThrow(/ENOENT/);
  expect(() => statSync(`${path}.partial`)).toThrow(/ENOENT/);
});

/** Sends a message to anna, and waits until it is there. */
async function receiveMail(): Promise<void> {
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await smtp.sendMail({ from: 'bert@old.example', to: 'anna@leave.test', subject: 'leaving', text: 'x' });
  smtp.close();
  const count = async (): Promise<unknown> => (await rows('SELECT count(*) AS n FROM entry'))[0]?.['n'];
  await expect.poll(count).toBe(1);
}

test('with its mail it leaves into one directory, which a mailbox elsewhere takes', async () => {
  const path = join(directory, 'all');
  await receiveMail();
  const { stdout } = await run('export', '--org', 'leavers', path, '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    organization: 'leavers',
    format: 'maildir',
    mailboxes: [{ address: 'anna@leave.test', messages: 1, damaged: [] }],
  });
  const file = JSON.parse(readFileSync(join(path, 'mailstead-organization.json'), 'utf8')) as Record<string, unknown[]>;
  expect(file['mailboxes']).toMatchObject([{ address: 'anna@leave.test' }]);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  const imported = await run('import', join(path, 'anna@leave.test'), '--mailbox', box.address);
  expect(imported.stdout).toMatch(/done\. 1 imported/);

  const zipped = join(directory, 'zipped');
  await run('export', '--org', 'leavers', zipped, '--format', 'mbox');
  const again = await run('import', join(zipped, 'anna@leave.test.zip'), '--mailbox', box.address);
  expect(again.stdout).toMatch(/done\. 0 imported .*, 1 known before/);
});

test('with its mail: a directory that exists stays, and a mailbox that cannot be written leaves none', async () => {
  await expect(run('export', '--org', 'leavers', directory)).rejects.toThrow(/exists\. Choose a new directory/);
  const path = join(directory, 'none');
  await expect(run('export', '--org', 'nobody', path)).rejects.toThrow(/No organization nobody/);
  await expect(run('export', '--org', 'leavers', '/proc/leavers')).rejects.toThrow();
  expect([path, `${path}.partial`].filter((one) => existsSync(one))).toEqual([]);
});

test('a directory or file that stands where an export is written first stays, and the export says what to do', async () => {
  const path = join(directory, 'taken');
  mkdirSync(`${path}.partial`);
  writeFileSync(join(`${path}.partial`, 'thesis.txt'), 'years of work');
  const foreign = /taken\.partial exists and may be somebody's\. Delete it if an interrupted export left it/;
  await expect(run('export', '--org', 'leavers', path)).rejects.toThrow(foreign);
  await expect(run('export', '--mailbox', 'anna@leave.test', path)).rejects.toThrow(foreign);
  expect(readFileSync(join(`${path}.partial`, 'thesis.txt'), 'utf8')).toBe('years of work');
  writeFileSync(`${path}.json.partial`, 'of somebody');
  await expect(run('organization', 'export', 'leavers', `${path}.json`)).rejects.toThrow(/may be somebody's/);
  expect(readFileSync(`${path}.json.partial`, 'utf8')).toBe('of somebody');
});

test('two mailboxes whose names a file system takes for one leave into two directories, with their addresses', async () => {
  for (const localPart of ['a/b', 'a_b']) await ask('provision_email', { domain: 'leave.test', localPart });
  const path = join(directory, 'two');
  await run('export', '--org', 'leavers', path);
  const { mailboxes } = JSON.parse(readFileSync(join(path, 'mailstead-mailboxes.json'), 'utf8')) as {
    mailboxes: { address: string; path: string; messages: number }[];
  };
  expect(mailboxes).toMatchObject([
    { address: 'a_b@leave.test', path: 'a_b@leave.test', messages: 0 },
    { address: 'anna@leave.test', path: 'anna@leave.test', messages: 1 },
    { address: 'a/b@leave.test', path: 'a_b@leave.test_2', messages: 0 },
  ]);
  for (const { address, path: name } of mailboxes) {
    const summary = JSON.parse(readFileSync(join(path, name, 'mailstead-export.json'), 'utf8')) as { mailbox: string };
    expect(summary.mailbox).toBe(address);
  }
  expect(readdirSync(path).length).toBe(5);
});
