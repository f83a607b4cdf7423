import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { removeAccount, purgeRemovedAccount } from '../../mail/store/account/account-removal.ts';
import { countBudget } from '../../mail/store/limit/budget.ts';
import { command } from '../../mail/store/engine/types.ts';
import {
  accountsOverSenderLimit,
  purgeSenders,
  recordSenderDelivery,
  recordSenderVote,
  type Reputation,
  reputationOf,
  type SenderVote,
  trimSenders,
} from '../../mail/store/filter/sender.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';
import { onPostgres } from '../support/test-database.ts';

const DAY = 24 * 3_600_000;
const KEYS = ['a:ann@sender.example', 'd:sender.example', 'n:192.0.2.0/24'];

const delivered = command(
  'test-delivered',
  (tx, input: { account: number; keys: string[]; junk: boolean }, stamp): Promise<void> =>
    recordSenderDelivery(tx, input, stamp),
);
const learned = command(
  'test-learned',
  (tx, input: { account: number; keys: string[]; vote: SenderVote }, stamp): Promise<void> =>
    recordSenderVote(tx, input, stamp),
);
const writes = command('test-writes', (tx, { account, to }: { account: number; to: string }, stamp): Promise<void> => {
  return countBudget(tx, [{ subject: 'test', explanation: '', newRecipients: { account, most: 10 } }], [to], stamp);
});
const dismissed = command('test-dismissed', (tx, account: number) => removeAccount(tx, { tenant: 1, account }));

let test_: TestStore;
beforeEach(async () => {
  const parts = mailParts();
  test_ = await testStore({ ...parts, commands: [...parts.commands, delivered, learned, writes, dismissed] });
});
afterEach(() => test_[Symbol.asyncDispose]());

const deliver = (junk = false, keys = KEYS, account = 7): Promise<void> =>
  test_.store.write(delivered, { account, keys, junk });
const learn = (vote: SenderVote, account = 7, keys = KEYS): Promise<void> =>
  test_.store.write(learned, { account, keys, vote });
const known = (account = 7, keys = KEYS): Promise<Reputation> =>
  test_.store.read(reputationOf, { account, keys, author: 'ann@sender.example', now: test_.clock.now });

describe('what is known of a sender', () => {
  test('is nothing at first', async () => {
    expect(await known()).toEqual({ own: [], box: [], hasWritten: false });
  });

  test('counts what came, under each key, for this account alone', async () => {
    await deliver();
    await deliver();
    await deliver(true, KEYS.slice(1));
    const { own, box } = await known();
    expect(own.map(({ key, seen, junked, kept }) => [key, seen, junked, kept])).toEqual([
      ['a:ann@sender.example', 2, 0, 0],
      ['d:sender.example', 2, 0.25, 0],
      ['n:192.0.2.0/24', 2, 0.25, 0],
    ]);
    expect(box).toEqual([]);
    expect((await known(8)).own).toEqual([]);
  });

  test('fades by half in 90 days, and keeps since when', async () => {
    const begun = test_.clock.now;
    for (let i = 0; i < 4; i++) await deliver();
    test_.clock.now += 90 * DAY;
    expect((await known()).own[0]?.seen).toBeCloseTo(2, 6);
    await deliver();
    test_.clock.now += 90 * DAY;
    expect((await known()).own[0]).toMatchObject({ since: begun, seen: expect.closeTo(1.5, 6) as number });
    // A clock that is set back makes nothing grow.
    test_.clock.now -= 500 * DAY;
    await deliver();
    expect((await known()).own[0]?.seen).toBeCloseTo(4, 6);
  });

  test('says whether the account wrote there', async () => {
    await test_.store.write(writes, { account: 7, to: 'ann@sender.example' });
    expect((await known()).hasWritten).toBe(true);
    expect((await known(8)).hasWritten).toBe(false);
  });
});

describe('training samples', () => {
  const first = ({ own }: Reputation): unknown => own[0] && [own[0].seen, own[0].junked, own[0].kept];

  test('move what was counted, and back', async () => {
    await deliver();
    await deliver();
    await learn('junk');
    expect(first(await known())).toEqual([1, 1, 0]);
    await learn('kept');
    expect(first(await known())).toEqual([1, 0, 1]);
  });

  test('of what is only claimed are learned when they say junk', async () => {
    const claimed = ['c:ann@sender.example'];
    await learn('kept', 7, claimed);
    expect((await known(7, claimed)).own).toEqual([]);
    await learn('junk', 7, claimed);
    expect((await known(7, claimed)).own).toMatchObject([{ junked: 1 }]);
    expect((await known(7, claimed)).box).toEqual([]);
  });

  test('are one vote of an account for the box, however often', async () => {
    for (let i = 0; i < 5; i++) await learn('junk');
    await learn('junk', 8);
    expect((await known(9)).box).toMatchObject(KEYS.map((key) => ({ key, junked: 2, kept: 0 })));
    for (let i = 0; i < 9; i++) await learn('kept');
    const [row] = (await known(9)).box;
    expect([row?.junked, row?.kept]).toEqual([1, 1]);
    await learn('junk', 8);
    expect((await known(9)).box[0]).toMatchObject({ junked: 1, kept: 1 });
  });
});

describe('it stays bounded', () => {
  test('who was not heard of for a year is forgotten', async () => {
    await deliver(false, ['d:old.example']);
    test_.clock.now += 300 * DAY;
    await deliver(false, ['d:new.example']);
    test_.clock.now += 66 * DAY;
    expect(await test_.store.write(purgeSenders, undefined)).toBe(false);
    const { own } = await known(7, ['d:old.example', 'd:new.example']);
    expect(own.map(({ key }) => key)).toEqual(['d:new.example']);
  });

  test('an account keeps so many, the last ones', async () => {
    const keys = (day: number): string[] => Array.from({ length: 150 }, (_, i) => `d:s${day}-${i}.example`);
    for (let day = 0; day < 4; day++) {
      await deliver(false, keys(day));
      test_.clock.now += DAY;
    }
    await deliver(false, keys(9), 8);
    expect(await test_.store.scan(accountsOverSenderLimit, { most: 200 })).toEqual([7]);
    let slices = 1;
    while (await test_.store.write(trimSenders, { account: 7, most: 200 })) slices += 1;
    expect(slices).toBe(3);
    expect(await test_.store.scan(accountsOverSenderLimit, { most: 200 })).toEqual([]);
    const left = await Promise.all([0, 1, 2, 3].map(async (day) => (await known(7, keys(day))).own.length));
    expect(left).toEqual([0, 0, 50, 150]);
    expect((await known(8, keys(9))).own).toHaveLength(150);
  });

  test('nothing is left of an account that is removed', async () => {
    const { account } = await testAccount(test_.store);
    await deliver(false, KEYS, account);
    await test_.store.write(dismissed, account);
    while ((await test_.store.write(purgeRemovedAccount, { account })).more);
    expect((await known(account)).own).toEqual([]);
  });
});

// Plans of SQLite.
test.skipIf(onPostgres)('rows are found by their keys, whatever the table holds', async () => {
  await deliver();
  const queried: string[] = [];
  const rx = {
    get: () => Promise.resolve(undefined),
    all: (sql: string) => {
      queried.push(sql);
      return Promise.resolve([]);
    },
  };
  await reputationOf.run(rx, { account: 7, keys: KEYS, author: '', now: 0 });
  const plan = command('test-plan', (tx): Promise<{ detail: string }[]> =>
    tx.all(`EXPLAIN QUERY PLAN ${queried[0] ?? ''}`, '[]', 7, 0, 1),
  );
  const parts = mailParts();
  await using other = await testStore({ ...parts, commands: [...parts.commands, plan] });
  const steps = (await other.store.write(plan, undefined)).map(({ detail }) => detail).join('\n');
  expect(steps).toContain('SEARCH s USING PRIMARY KEY (account_id=? AND key=?)');
  expect(steps).not.toContain('SCAN s');
});
