import { afterEach, beforeEach, expect, test } from 'vitest';
import { addBan, type Ban, purgeBans, listBans, removeBan } from '../../mail/store/limit/ban.ts';
import { testStore, type TestStore } from '../support/store.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const network = '192.0.2.7';

let test_: TestStore;
beforeEach(async () => {
  test_ = await testStore();
});
afterEach(() => test_[Symbol.asyncDispose]());

const add = (of = network): Promise<Ban> => test_.store.write(addBan, { network: of, offence: 'logins', count: 100 });
const list = async (): Promise<string[]> => {
  const rows = await test_.store.read(listBans, { after: 0, limit: 1000, now: test_.clock.now });
  return rows.map((one) => one.network);
};

test('each ban lasts longer than the one before: 15 minutes, 1 hour, 6 hours, 1 day, and not more: mail that waits outside comes in after all', async () => {
  const lengths: number[] = [];
  for (let i = 0; i < 6; i++) {
    const { times, since, until } = await add();
    expect([times, since]).toEqual([i + 1, test_.clock.now]);
    lengths.push(until - since);
    test_.clock.now = until;
  }
  expect(lengths).toEqual([15 * MINUTE, HOUR, 6 * HOUR, DAY, DAY, DAY]);
});

test('who behaves for a month begins anew', async () => {
  const { until } = await add();
  test_.clock.now = until + 30 * DAY - 1;
  expect((await add()).times).toBe(2);
  test_.clock.now += HOUR + 30 * DAY;
  expect((await add()).times).toBe(1);
});

test('a ban that holds is not made longer by another', async () => {
  const first = await add();
  test_.clock.now += MINUTE;
  expect(await add()).toEqual(first);
});

test('it is there after a restart, and listed as long as it holds', async () => {
  await add();
  await add('2001:db8:0:0::/64');
  await test_.reopen();
  expect(await list()).toEqual([network, '2001:db8:0:0::/64']);
  test_.clock.now += 15 * MINUTE;
  expect(await list()).toEqual([]);
});

test('a lifted ban is forgotten, with those before', async () => {
  await add();
  expect(await test_.store.write(removeBan, { network })).toEqual({ kind: 'removed' });
  expect(await test_.store.write(removeBan, { network })).toEqual({ kind: 'missing' });
  expect((await add()).times).toBe(1);
});

test('what is over for a month is swept, what is not stays', async () => {
  for (let i = 0; i < 600; i++) await add(`n${i}`);
  test_.clock.now += 15 * MINUTE + 30 * DAY - 1;
  await add('young');
  test_.clock.now += 1;
  expect(await test_.store.write(purgeBans, undefined)).toBe(true);
  expect(await test_.store.write(purgeBans, undefined)).toBe(false);
  expect(await list()).toEqual(['young']);
  expect((await add('n1')).times).toBe(1);
});
