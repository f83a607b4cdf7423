import { expect, test } from 'vitest';
import { deleteStale, deleteWhere, lruMap } from '../../../mail/limits/lru-map.ts';

test('keeps what was used last, and never more than its bound', () => {
  const map = lruMap<string, number>(100);
  map.set('used', -1);
  for (let i = 0; i < 10_000; i++) {
    map.set(`${i}`, i);
    if (i % 50 === 0) map.get('used');
    expect(map.size).toBeLessThanOrEqual(100);
  }
  expect([map.get('used'), map.get('0'), map.get('9999')]).toEqual([-1, undefined, 9999]);
});

test('deletes stale entries from the oldest on, all of them, and one after the other', () => {
  const map = lruMap<string, number>(100);
  for (let i = 0; i < 50; i++) map.set(`${i}`, i);
  deleteStale(map, (value) => value < 20);
  expect([map.size, map.get('19'), map.get('20')]).toEqual([30, undefined, 20]);
  deleteStale(map, () => true);
  deleteStale(map, () => true);
  expect(map.size).toBe(0);
});

test('deletes every entry that matches', () => {
  const map = lruMap<string, number>(100);
  for (let i = 0; i < 50; i++) map.set(`key ${i % 2} ${i}`, i);
  deleteWhere(map, (_, key) => key.startsWith('key 1'));
  expect([...map.values()].every((value) => value % 2 === 0)).toBe(true);
  expect(map.size).toBe(25);
});
