import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { query } from '../../../mail/store/engine/types.ts';
import type { TaintReader } from '../../../mail/agents/taint/taint.ts';
import { ReadingLog } from '../../../src/agents/reading-log.ts';
import { GateWorld } from '../../support/gate-world.ts';

const HOUR = 3_600_000;
const lastAt = query('test-last', (rx) => rx.get<{ last_at: number }>('SELECT last_at FROM tainted_reader'));

let world: GateWorld;
let log: ReadingLog;
let queried: number;
beforeEach(async () => {
  world = await GateWorld.open();
  queried = 0;
  log = new ReadingLog({ store: world.box.store, clock: () => world.box.clock.now, meter: quiet, log: quiet });
});
afterEach(() => world[Symbol.asyncDispose]());

const by = (): Promise<TaintReader> => {
  queried++;
  return Promise.resolve(world.reader());
};
const leakedAt = async (): Promise<number | undefined> => (await world.box.store.read(lastAt, undefined))?.last_at;

test('a reading is on disk when the log answers, and the same again costs nothing for an hour', async () => {
  const email = await world.put({ from: 'evil@y.test' });
  await log.taint({ key: 'tok 1', account: world.account, emails: [email], reader: by });
  const first = world.box.clock.now;
  expect(await leakedAt()).toBe(first);
  world.box.clock.now += HOUR - 1;
  await log.taint({ key: 'tok 1', account: world.account, emails: [email], reader: by });
  expect(queried).toBe(1);
  expect(await leakedAt()).toBe(first);
  world.box.clock.now += 1;
  await log.taint({ key: 'tok 1', account: world.account, emails: [email], reader: by });
  expect(await leakedAt()).toBe(first + HOUR);
});

test('who is exposed already is so for what comes after as well', async () => {
  for (const from of ['a@x.test', 'b@x.test', 'c@x.test']) {
    await log.taint({ key: 'tok 1', account: world.account, emails: [await world.put({ from })], reader: by });
  }
  const done = await world.send(['new@x.test']);
  expect(done).toMatchObject({ kind: 'waits', heldBecause: expect.stringContaining('c@x.test') as string });
});

test('what the organization wrote, and what nobody reads who is an agent, is not written down', async () => {
  await log.taint({
    key: 'tok 1',
    account: world.account,
    emails: [await world.put({ from: 'owner@home.test' })],
    reader: by,
  });
  const evil = await world.put({ from: 'evil@y.test' });
  await log.taint({ key: 'pwd 1', account: world.account, emails: [evil], reader: () => Promise.resolve(undefined) });
  expect(await leakedAt()).toBeUndefined();
});
