import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PARSER_CAPABILITIES } from '../../../mail/imap/capabilities.ts';
import { COMMAND_CAPABILITIES } from '../../../mail/imap/commands/index.ts';
import { withExtensionTable } from '../../../mail/imap/extensions-page.ts';
import { EXTENSIONS } from '../../../mail/imap/extensions.ts';
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
