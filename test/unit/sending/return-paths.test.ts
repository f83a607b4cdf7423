import { createSecretKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { ReturnPaths } from '../../../mail/delivery/return-path.ts';
import type { Query } from '../../../mail/store/engine/types.ts';
import { AccountTenants } from '../../../src/sending/account-tenants.ts';

const KEY = createSecretKey(Buffer.alloc(32, 7));
const sender = { local: 'me', domain: 'box.test' };

/** A store that answers one thing, or fails, and counts how often it is asked. */
function answering(answer: () => unknown) {
  const queried: unknown[] = [];
  async function read<I, O>(_what: Query<I, O>, input: I): Promise<O> {
    queried.push(input);
    return answer() as O;
  }
  return { queried, read };
}

test('a domain is looked up once in a few seconds, even if the clock is set back', async () => {
  let comesHere = true;
  let now = 1_000_000;
  const store = answering(() => comesHere);
  const paths = new ReturnPaths(store, KEY, () => now);
  expect((await paths.find({ id: 1, sender }))?.local).toMatch(/^me\+r/);
  comesHere = false;
  expect((await paths.find({ id: 2, sender }))?.local).toMatch(/^me\+r/);
  expect(store.queried).toEqual([{ name: 'box.test' }]);
  now += 5000;
  expect(await paths.find({ id: 3, sender })).toEqual(sender);
  comesHere = true;
  now -= 3_600_000;
  expect((await paths.find({ id: 4, sender }))?.local).toMatch(/^me\+r/);
  expect(store.queried).toHaveLength(3);
});

test('a failed read is not cached', async () => {
  let broken = true;
  const store = answering(() => {
    if (broken) throw new Error('no store');
    return true;
  });
  const paths = new ReturnPaths(store, KEY, () => 0);
  await expect(paths.find({ id: 1, sender })).rejects.toThrow('no store');
  broken = false;
  expect((await paths.find({ id: 1, sender }))?.local).toMatch(/^me\+r/);
});

test('the tenant of an account is cached, but not of a missing account', async () => {
  let tenant: number | undefined;
  const store = answering(() => tenant);
  const tenants = new AccountTenants(store);
  expect(await tenants.of(3)).toBeUndefined();
  tenant = 9;
  expect([await tenants.of(3), await tenants.of(3)]).toEqual([9, 9]);
  expect(store.queried).toHaveLength(2);
});
