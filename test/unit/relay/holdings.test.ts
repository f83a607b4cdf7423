import { expect, test } from 'vitest';
import { FairQueue } from '../../../mail/relay/fair-queue.ts';
import { InFlightRows } from '../../../mail/relay/in-flight-rows.ts';
import type { QueueItem } from '../../../mail/relay/relay-queue.ts';

let made = 0;
function row(tenant: number, owner: number, lane = owner): QueueItem {
  return { id: ++made, tenant, owner, ownerDestination: lane } as QueueItem;
}

test('groups are given out tenant after tenant, and sender after sender', () => {
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
  const held = new InFlightRows();
  const rows = Array.from({ length: 1000 }, (_, n) => row(1, 1, n));
  for (const one of rows) held.add(one);
  expect(held.exclusions(0).owners).toEqual([1]);
  expect(
    held.markBegun(
      rows.slice(0, 499).map((one) => ({ ...one, ownerDestination: 5000 })),
      0,
    ),
  ).toBe(false);
  expect(
    held.markBegun(
      rows.slice(499, 500).map((one) => ({ ...one, ownerDestination: 5000 })),
      0,
    ),
  ).toBe(true);
  expect(held.exclusions(0).owners).toEqual([]);
});

test('however much one tenant holds, another has its few', () => {
  const held = new InFlightRows();
  for (let owner = 1; owner <= 30; owner += 1) for (let n = 0; n < 900; n += 1) held.add(row(1, owner));
  for (let n = 0; n < 19; n += 1) held.add(row(2, 99));
  expect(held.exclusions(0).owners).not.toContain(99);
  held.add(row(2, 99));
  expect(held.exclusions(0).owners).toContain(99);
});

test('a lane is left out until its rows are begun, and is reported once', () => {
  const held = new InFlightRows();
  const [first, second] = [row(1, 1, 7), row(1, 1, 7)];
  held.add(first);
  held.add(second);
  expect(held.markBegun([first], 0)).toBe(false);
  expect(held.exclusions(0).lanes).toEqual([7]);
  expect(held.markBegun([second], 0)).toBe(true);
  expect(held.exclusions(0).lanes).toEqual([]);
  expect([held.has(first), held.size]).toEqual([true, 2]);
  held.release(first);
  expect(held.has(first)).toBe(false);
});

test('a lane whose attempts take long is left out, or its rows would be found again', () => {
  const held = new InFlightRows();
  const one = row(1, 1, 7);
  held.add(one);
  held.markBegun([one], 0);
  expect(held.exclusions(240_000).lanes).toEqual([]);
  expect(held.exclusions(240_001).lanes).toEqual([7]);
  held.release(one);
  expect(held.exclusions(240_001).lanes).toEqual([]);
});
