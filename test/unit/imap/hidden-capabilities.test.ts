import { expect, test } from 'vitest';
import { hideableCapabilities } from '../../../mail/imap/hideable-capabilities.ts';
import { imapWorld, PASSWORD, USER } from '../../support/imap-world.ts';

const listed = (line: string | undefined): string[] => (/CAPABILITY ([^\]]*)/.exec(line ?? '')?.[1] ?? '').split(' ');

test('capabilities that an account hides are not listed after its login; a name hides its forms', async () => {
  await using world = await imapWorld();
  const other = await world.connect();
  const all = listed((await other.command(`LOGIN ${USER} ${PASSWORD}`))[0]);
  world.store.hidden = ['QUOTA', 'STATUS=SIZE', 'IMAP4REV2'];
  const client = await world.connect();
  expect(listed((await client.command('CAPABILITY'))[0])).toContain('QUOTA');
  const left = listed((await client.command(`LOGIN ${USER} ${PASSWORD}`))[0]);
  const hidden = all.filter((name) => !left.includes(name));
  expect(hidden.toSorted()).toEqual(['IMAP4rev2', 'QUOTA', 'QUOTA=RES-MESSAGE', 'QUOTA=RES-STORAGE', 'STATUS=SIZE']);
  expect(listed((await client.command('CAPABILITY'))[0])).toEqual(left);
  expect(await client.command('ENABLE IMAP4rev2')).toEqual(['* ENABLED', 't OK Enabled']);
});

test('each hidden command still works for a client that does not ask', async () => {
  await using world = await imapWorld();
  world.store.hidden = hideableCapabilities();
  const client = await world.client('INBOX');
  expect((await client.command('GETQUOTAROOT INBOX')).at(-1)).toMatch(/^t OK/);
  expect((await client.command('UID EXPUNGE 1')).at(-1)).toMatch(/^t OK/);
  expect(listed((await client.command('CAPABILITY'))[0])).toContain('IMAP4rev1');
});

test('the limits of APPEND and of saved messages can be hidden too', async () => {
  await using world = await imapWorld();
  world.store.hidden = ['APPENDLIMIT', 'SAVELIMIT'];
  const client = await world.connect();
  const left = listed((await client.command(`LOGIN ${USER} ${PASSWORD}`))[0]);
  expect(left).toContain('IMAP4rev1');
  expect(left.filter((name) => /^(APPEND|SAVE)LIMIT/.test(name))).toEqual([]);
});
