import { expect, test } from 'vitest';
import { LookupCache } from '../../../mail/dns/lookup-cache.ts';
import type { Lookup } from '../../../mail/dns/lookup.ts';

function asker(records: readonly string[]): {
  count: number;
  ask: () => Promise<{ lookup: Lookup<string>; ttlMs: number }>;
} {
  const self = {
    count: 0,
    ask: () => {
      self.count += 1;
      return Promise.resolve({ lookup: { kind: 'found' as const, records }, ttlMs: 1000 });
    },
  };
  return self;
}

test('the least recently used goes first when there are too many', async () => {
  const cache = new LookupCache(() => 0);
  const first = asker(['1']);
  const second = asker(['2']);
  await cache.get('first', first.ask);
  await cache.get('second', second.ask);
  for (let n = 0; n < 19_999; n += 1) {
    await cache.get(`filler ${n}`, asker(['x']).ask);
    if (n === 5000) await cache.get('first', first.ask);
  }
  await cache.get('first', first.ask);
  await cache.get('second', second.ask);
  expect([first.count, second.count]).toEqual([1, 2]);
});

test('long records do not add up past the bound', async () => {
  const cache = new LookupCache(() => 0);
  const first = asker(['small']);
  await cache.get('first', first.ask);
  for (let n = 0; n < 200; n += 1) await cache.get(`big ${n}`, asker(['x'.repeat(60_000)]).ask);
  await cache.get('first', first.ask);
  expect(first.count).toBe(2);
});
