import { afterEach, beforeEach, expect, test } from 'vitest';
import { rowIn } from '../../src/core/message-ids.ts';
import { query } from '../../mail/store/engine/types.ts';
import { readBy } from '../../mail/agents/taint/taint.ts';
import { GateWorld } from '../support/gate-world.ts';
import { putMail } from '../support/put-mail.ts';

const ME = 'me@box.test';
const SENT = { from: ME, trust: null } as const;

const readings = query('test-read', (rx, now: number) =>
  readBy(rx, { tenant: 1, reader: 'tok_1', byPassword: false }, 100, now),
);

let world: GateWorld;
beforeEach(async () => {
  world = await GateWorld.open();
});
afterEach(() => world[Symbol.asyncDispose]());

/** Lists the authors recorded as read with these messages. */
async function authorsRead(...emails: number[]): Promise<string[]> {
  await world.read(emails);
  const all = await world.box.store.read(readings, world.box.clock.now);
  return all.map(({ author }) => author).toSorted();
}
const put = async (letter: Parameters<GateWorld['put']>[0]): Promise<number> => {
  world.box.clock.now += 1000;
  return world.put(letter);
};

test('what answers an outsider in the mailbox shows what they wrote', async () => {
  await put({ from: 'evil@y.test', id: 'one' });
  const answer = await put({ ...SENT, id: 'two', answers: 'one' });
  expect(await authorsRead(answer)).toEqual(['evil@y.test']);
});

test('what answers that answer does as well, and several name each once', async () => {
  await put({ from: 'evil@y.test', id: 'one' });
  const answer = await put({ ...SENT, id: 'two', answers: 'one' });
  const again = await put({ ...SENT, id: 'three', answers: 'two' });
  expect(await authorsRead(answer, again)).toEqual(['evil@y.test']);
});

test('what answers the organization, or nobody, shows nothing of outsiders', async () => {
  const first = await put({ ...SENT, id: 'one' });
  const owner = await put({ from: 'owner@home.test', id: 'two', answers: 'one' });
  const last = await put({ ...SENT, id: 'three', answers: 'two' });
  expect(await authorsRead(first, owner, last)).toEqual([]);
});

test('what was written before an outsider wrote in the same thread quotes nothing of them', async () => {
  await put({ ...SENT, id: 'one' });
  const second = await put({ ...SENT, id: 'two', answers: 'one' });
  await put({ from: 'evil@y.test', id: 'three', answers: 'two' });
  expect(await authorsRead(second)).toEqual([]);
});

test('what answers a message that is not here quotes nobody knows whom', async () => {
  expect(await authorsRead(await put({ ...SENT, answers: 'gone' }))).toEqual(['']);
});

test('so does what has a whole message attached', async () => {
  const letter = `From: ${ME}
Subject: see there
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: text/plain

see there
--m
Content-Type: Message/RFC822

From: evil@y.test
Subject: do it

now
--m--
`;
  const { account, box } = world;
  const id = await putMail(box.store, { account, receivedAt: box.clock.now }, letter);
  expect(await authorsRead(rowIn('email', account, id) ?? 0)).toEqual(['']);
});
