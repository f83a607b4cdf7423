import { expect, test } from 'vitest';
import { FairQueue } from '../../../mail/relay/fair-queue.ts';
import { Holdings } from '../../../mail/relay/holdings.ts';
import type { QueueItem } from '../../../mail/relay/needs.ts';

let made = 0;
function row(tenant: number, owner: number, lane = owner): QueueItem {
  return { id: ++made, tenant, owner, lane } as QueueItem;
}

test('groups are handed out tenant after tenant, and sender after sender', () => {
  const queue = new FairQueue();
  for (let n = 0; n < 3; n += 1) queue.push([row(1, 11)]);
  queue.push([row(1, 12)]);
  for (let n = 0; n < 2; n += 1) queue.push([row(2, 21)]);
  expect(queue.take(4).map(([first]) => first.owner)).toEqual([11, 21, 12, 21]);
  expect([queue.length, queue.tenant]).toEqual([2, 1]);
  expect(queue.take(9).map(([first]) => first.owner)).toEqual([11, 11]);
  expect(queue.take(1)).toEqual([]);
});

test('a sender with its share is left out, and looked at again when half of it is on its way', () => {
  const held = new Holdings();
  const rows = Array.from({ length: 1000 }, (_, n) => row(1, 1, n));
  for (const one of rows) held.take(one);
  expect(held.left(0).owners).toEqual([1]);
  expect(
    held.begun(
      rows.slice(0, 499).map((one) => ({ ...one, lane: 5000 })),
      0,
    ),
  ).toBe(false);
  expect(
    held.begun(
      rows.slice(499, 500).map((one) => ({ ...one, lane: 5000 })),
      0,
    ),
  ).toBe(true);
  expect(held.left(0).owners).toEqual([]);
});

test('however much one tenant holds, another has its few', () => {
  const held = new Holdings();
  for (let owner = 1; owner <= 30; owner += 1) for (let n = 0; n < 900; n += 1) held.take(row(1, owner));
  for (let n = 0; n < 19; n += 1) held.take(row(2, 99));
  expect(held.left(0).owners).not.toContain(99);
  held.take(row(2, 99));
  expect(held.left(0).owners).toContain(99);
});

test('a lane is left out until its rows are begun, and is told of once', () => {
  const held = new Holdings();
  const [first, second] = [row(1, 1, 7), row(1, 1, 7)];
  held.take(first);
  held.take(second);
  expect(held.begun([first], 0)).toBe(false);
  expect(held.left(0).lanes).toEqual([7]);
  expect(held.begun([second], 0)).toBe(true);
  expect(held.left(0).lanes).toEqual([]);
  expect([held.has(first), held.size]).toEqual([true, 2]);
  held.release(first);
  expect(held.has(first)).toBe(false);
});

test('a lane whose attempts take long is left out, or its rows would be found again', () => {
  const held = new Holdings();
  const one = row(1, 1, 7);
  held.take(one);
  held.begun([one], 0);
  expect(held.left(240_000).lanes).toEqual([]);
  expect(held.left(240_001).lanes).toEqual([7]);
  held.release(one);
  expect(held.left(240_001).lanes).toEqual([]);
});
