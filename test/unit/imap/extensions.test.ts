import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PARSER_CAPABILITIES } from '../../../mail/imap/capabilities.ts';
import { COMMAND_CAPABILITIES } from '../../../mail/imap/commands/index.ts';
import { withExtensionTable } from '../../../mail/imap/extensions-page.ts';
import { EXTENSIONS } from '../../../mail/imap/extensions.ts';
import { DEFAULT_LIMITS } from '../../../mail/imap/limits.ts';
import { MECHANISMS } from '../../../mail/login/sasl.ts';
import { CAPABILITY_TESTS, testExists } from '../../support/capability-tests.ts';
import { imapWorld } from '../../support/imap-world.ts';

const rows = Object.keys(EXTENSIONS);

/** Capabilities without their values: `AUTH=`, `APPENDLIMIT=`. */
const bare = (name: string): string => name.replace(/^(AUTH|APPENDLIMIT|SAVELIMIT)=.*$/, '$1=');

test('the table of extensions has a row for each capability in the code, and no other', () => {
  const code = [...PARSER_CAPABILITIES, ...COMMAND_CAPABILITIES].map((one) =>
    typeof one === 'string' ? one : one.name,
  );
  const connection = ['APPENDLIMIT=', 'AUTH=', 'LOGINDISABLED', 'SAVELIMIT=', 'STARTTLS'];
  expect(rows.toSorted()).toEqual([...new Set([...code, ...connection].map(bare))].toSorted());
});

test('docs/imap.md has the table of extensions: npm run docs makes it', () => {
  const page = readFileSync(new URL('../../../docs/imap.md', import.meta.url), 'utf8');
  expect(page).toBe(withExtensionTable(page));
});

test('a capability is advertised once, and each is in the table', async () => {
  await using world = await imapWorld();
  for (const client of [await world.connect(), await world.client()]) {
    const [line = ''] = await client.command('CAPABILITY');
    const names = line.split(' ').slice(2);
    expect(new Set(names).size).toBe(names.length);
    expect(names.map(bare).filter((name) => !rows.includes(name))).toEqual([]);
  }
});

/** Capabilities of all states of a connection: before TLS, before login and after it. */
async function advertised(): Promise<Set<string>> {
  await using local = await imapWorld({ uidOnly: true });
  await using remote = await imapWorld({ local: false });
  const clients = [await remote.connect(), await remote.connectTls(), await local.connect(), await local.client()];
  const lines = await Promise.all(clients.map(async (client) => (await client.command('CAPABILITY'))[0] ?? ''));
  const mechanisms = Object.keys(MECHANISMS).map((name) => `AUTH=${name}`);
  return new Set([...lines.flatMap((line) => line.split(' ').slice(2)), ...mechanisms]);
}

test('each capability that is advertised in any state has a test, and each of these tests exists', async () => {
  const names = [...(await advertised())].map((name) => name.replace(/^(APPENDLIMIT|SAVELIMIT)=.*$/, '$1='));
  expect(names).toEqual(expect.arrayContaining(['LOGINDISABLED', 'STARTTLS', 'LITERAL-', 'LITERAL+', 'UIDONLY']));
  expect(names.filter((name) => !(name in CAPABILITY_TESTS))).toEqual([]);
  expect(Object.keys(CAPABILITY_TESTS).filter((name) => !names.includes(name))).toEqual([]);
  const missing = Object.entries(CAPABILITY_TESTS).filter(([, entry]) => !testExists(entry));
  expect(missing.map(([name]) => name)).toEqual([]);
});

test('a test that only a comment, another response or nothing at all mentions is missing', () => {
  const dialog = 'test/dialogs/imap/acl.dialog';
  expect(testExists({ dialog, command: /GETACL Team/, response: /\* ACL Team/ })).toBe(true);
  expect(testExists({ dialog, command: /RFC 4314/, response: /\* ACL Team/ })).toBe(false);
  expect(testExists({ dialog, command: /SETACL Team/, response: /\* ACL Team/ })).toBe(false);
  expect(testExists({ dialog, command: /SORT/, response: /OK/ })).toBe(false);
  expect(testExists({ file: 'test/unit/imap/notify.test.ts', mentions: /COMPRESS/ })).toBe(false);
});

test('docs/imap.md states the limit of commands as the code has it', () => {
  const page = readFileSync(new URL('../../../docs/imap.md', import.meta.url), 'utf8');
  const { commandsEachMinute } = DEFAULT_LIMITS;
  const each = Math.floor(commandsEachMinute / 60);
  expect(page).toContain(
    `${commandsEachMinute.toLocaleString('en')} commands a minute over all its sessions, then ${each} a second`,
  );
});
