import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Allowance, countAllowance, overAllowance, type OverAllowance } from '../../mail/store/limit/allowance.ts';
import { command } from '../../mail/store/engine/types.ts';
import { testStore, type TestStore } from '../support/store.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';

const LIMITS: Allowance = { messages: 5, burst: 3, newRecipients: 4, only: null, until: 'Until it is claimed' };
const DAY = 24 * 3_600_000;

const take = command(
  'test-take',
  async (
    tx,
    input: { tenant: number; allowance: Allowance; recipients: readonly string[] },
    stamp,
  ): Promise<OverAllowance | undefined> => {
    const over = await overAllowance(tx, input, stamp.now);
    if (over === undefined) await countAllowance(tx, input, stamp);
    return over;
  },
);

let store: TestStore;

beforeEach(async () => {
  const parts = mailParts();
  store = await testStore({ ...parts, commands: [...parts.commands, take] });
});
afterEach(() => store[Symbol.asyncDispose]());

function send(recipients: string[], over: Partial<Allowance> = {}, tenant = 7): Promise<OverAllowance | undefined> {
  return store.store.write(take, { tenant, allowance: { ...LIMITS, ...over }, recipients });
}

test('a burst ends after its number, and goes on when ten seconds are over', async () => {
  for (let i = 0; i < 3; i++) expect(await send(['a@x.example'])).toBeUndefined();
  expect(await send(['a@x.example'])).toMatchObject({ what: 'burst', most: 3, wait: 10_000 });
  store.clock.now += 9_999;
  expect(await send(['a@x.example'])).toMatchObject({ what: 'burst' });
  store.clock.now += 1;
  expect(await send(['a@x.example'])).toBeUndefined();
});

test('a day has so many messages, whoever asks at once, and a refused one counts for nothing', async () => {
  const done = await Promise.all(Array.from({ length: 20 }, () => send(['a@x.example'], { burst: 99 })));
  expect(done.filter((one) => one === undefined)).toHaveLength(5);
  store.clock.now += DAY - 1;
  expect(await send(['a@x.example'])).toMatchObject({ what: 'messages', wait: 1 });
  store.clock.now += 1;
  expect(await send(['a@x.example'])).toBeUndefined();
});

test('new recipients are counted once, known ones never again', async () => {
  expect(await send(['a@x.example', 'b@x.example', 'c@x.example'])).toBeUndefined();
  expect(await send(['a@x.example', 'b@x.example'])).toBeUndefined();
  expect(await send(['d@x.example', 'e@x.example'])).toMatchObject({ what: 'new-recipients', most: 4 });
  expect(await send(['d@x.example', 'd@x.example'])).toBeUndefined();
  store.clock.now += 10_000;
  expect(await send(['e@x.example'])).toMatchObject({ what: 'new-recipients', wait: DAY - 10_000 });
  store.clock.now += DAY;
  expect(await send(['e@x.example'])).toBeUndefined();
});

test('only some may be written to, where it says so', async () => {
  const only = ['owner@x.example'];
  expect(await send(['owner@x.example'], { only })).toBeUndefined();
  expect(await send(['owner@x.example', 'b@x.example'], { only })).toMatchObject({
    what: 'recipient',
    recipient: 'b@x.example',
    until: 'Until it is claimed',
  });
});

test('one tenant uses up nothing of another', async () => {
  for (let i = 0; i < 3; i++) await send(['a@x.example']);
  expect(await send(['a@x.example'], {}, 8)).toBeUndefined();
});
