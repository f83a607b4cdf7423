import { expect, test } from 'vitest';
import { ascendingRanges, commonRanges, rangesText, rangesWithout } from '../../../mail/imap/uid-ranges.ts';
import { imapWorld } from '../../support/imap-world.ts';
import type { ImapWorld } from '../../support/imap-world.ts';

/** 20 messages, of which these were expunged; the store no longer lists what was. */
async function forgetful(gone: string): Promise<ImapWorld> {
  const world = await imapWorld();
  for (let n = 0; n < 20; n += 1) world.store.deliver('INBOX', 'A: b\n\nc\n');
  const client = await world.client('INBOX');
  await client.command(`STORE ${gone} +FLAGS.SILENT (\\Deleted)`);
  await client.command('EXPUNGE');
  await client.command('LOGOUT');
  world.store.discardExpunged = true;
  return world;
}

async function vanished(world: ImapWorld, argument: string): Promise<string[]> {
  const client = await world.client();
  await client.command('ENABLE QRESYNC');
  const lines = await client.command(`SELECT INBOX (QRESYNC (1001 ${argument}))`);
  expect(lines.at(-1)).toMatch(/^t OK /);
  return lines.filter((line) => line.includes('VANISHED'));
}

test.each([
  ['all UIDs that do not exist', '15', '* VANISHED (EARLIER) 2:3,10,20'],
  ['of the known UIDs those that do not exist', '15 1:2,9:20', '* VANISHED (EARLIER) 2,10,20'],
  ['nothing below the last message in its place', '15 1:20 (2,8 4,11)', '* VANISHED (EARLIER) 20'],
  ['nothing below a place that still fits within a range', '15 1:20 (2:4 4:6)', '* VANISHED (EARLIER) 10,20'],
  ['everything when no message is in its place', '15 1:20 (2:4 2:4)', '* VANISHED (EARLIER) 2:3,10,20'],
])('when too many were expunged to list them, a client is sent %s', async (_, argument, expected) => {
  await using world = await forgetful('2:3,10,20');
  expect(await vanished(world, argument)).toEqual([expected]);
});

test('a client that has every UID of an emptied mailbox is sent one range', async () => {
  await using world = await forgetful('1:20');
  expect(await vanished(world, '15 1:4294967295')).toEqual(['* VANISHED (EARLIER) 1:20']);
});

test('many ranges are sent in several responses', async () => {
  await using world = await imapWorld();
  for (let n = 0; n < 4_200; n += 1) world.store.deliver('INBOX', 'A: b\n\nc\n');
  const odd = Array.from({ length: 2_100 }, (_, n) => n * 2 + 1);
  world.store.find('INBOX')?.drop(odd, 5_000);
  world.store.discardExpunged = true;
  const lines = await vanished(world, '3');
  expect(lines.map((line) => line.split(',').length)).toEqual([1_000, 1_000, 100]);
});

test('a message that is expunged while it is still counted vanishes later, and not as EARLIER', async () => {
  await using world = await imapWorld();
  for (let n = 0; n < 3; n += 1) world.store.deliver('INBOX', 'A: b\n\nc\n');
  const client = await world.client();
  await client.command('ENABLE QRESYNC');
  await client.command('SELECT INBOX');
  world.store.find('INBOX')?.drop([2], 9);
  expect(await client.command('UID FETCH 1:3 (UID) (CHANGEDSINCE 4 VANISHED)')).toEqual([
    '* VANISHED 2',
    't OK Fetched',
  ]);
});

test('sets of numbers: ascending, common, and without those that exist', () => {
  const set = [
    { from: 9, to: 7 },
    { from: 1, to: 2 },
    { from: 3, to: 3 },
    { from: 0, to: 20 },
  ];
  expect(rangesText(ascendingRanges(set, 22))).toBe('1:3,7:9,20:22');
  const [a, b] = [
    ascendingRanges(set, 22),
    [
      { from: 2, to: 7 },
      { from: 21, to: 30 },
    ],
  ];
  expect(rangesText(commonRanges(a, b))).toBe('2:3,7,21:22');
  expect(rangesText(commonRanges(a, []))).toBe('');
  const uids = Uint32Array.of(2, 8, 21, 22, 40);
  expect(rangesText(rangesWithout(a, uids, 5))).toBe('1,3,7,9,20');
  expect(rangesText(rangesWithout(a, uids, 0))).toBe('1:3,7:9,20:22');
});
