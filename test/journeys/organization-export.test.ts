import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { organizationBox, tool } from '../support/mcp.ts';

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

function rows(sql: string): Record<string, unknown>[] {
  using db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  return db.prepare(sql).all();
}

/** Every stored value that is a secret, in the forms in which a text could have it. */
function storedSecrets(): string[] {
  const columns = rows(
    `SELECT t.name AS "table", c.name AS "column", c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`,
  );
  const secret = columns.filter(({ column, type }) => type === 'BLOB' || SECRET.test(String(column)));
  const own = secret.filter(
    ({ table, column }) => !['blob', 'message_index'].includes(String(table)) && column !== 'email_key',
  );
  return own.flatMap(({ table, column }) =>
    rows(`SELECT "${String(column)}" AS value FROM "${String(table)}"`).flatMap(({ value }) => {
      if (value instanceof Uint8Array)
        return value.length < 8
          ? []
          : ['hex', 'base64', 'base64url'].map((form) => Buffer.from(value).toString(form as BufferEncoding));
      return typeof value === 'string' && value.length >= 8 ? [value] : [];
    }),
  );
}

async function run(...words: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(COMMAND, [...words, '--data-dir', box.dataDir], { env: box.env });
}

test('an organization leaves with everything but mail and secrets, as JSON', async () => {
  const [{ slug } = {}] = rows(`SELECT slug FROM organization WHERE name = 'Leavers'`);
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
  const stored = storedSecrets();
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
