import { expect, test } from 'vitest';
import type { QueueItem } from '../../../mail/relay/needs.ts';
import { Lane } from '../../../mail/relay/lane.ts';
import { Places } from '../../../mail/relay/places.ts';

function lane(name: string, tenant = 1): Lane {
  const made = new Lane(name, { first: 2, most: 20 });
  made.waiting.push([{ tenant, owner: tenant } as QueueItem]);
  return made;
}

function fill(places: Places, count: number, prefix: string): number {
  let taken = 0;
  for (let n = 0; n < count; n += 1) if (places.take(lane(`${prefix}${n}.test`))) taken += 1;
  return taken;
}

test('destinations that never answered get three quarters of the places, those that did the rest too', () => {
  const places = new Places(100);
  expect(fill(places, 1000, 'dead')).toBe(75);
  const good = lane('good.test');
  expect(places.take(good)).toBe(false);
  places.prove(good);
  let taken = 0;
  while (places.take(good)) taken += 1;
  expect(taken).toBe(25);
  expect(places.taken).toBe(100);
});

test('a destination that stops answering is held to the share again', () => {
  const places = new Places(4);
  const one = lane('one.test');
  places.prove(one);
  expect(places.take(one)).toBe(true);
  places.give(one);
  places.disprove(one);
  expect(fill(places, 3, 'dead')).toBe(3);
  expect(places.take(one)).toBe(false);
});

test('a connection makes place for a destination that has none', () => {
  const places = new Places(2);
  const [busy, other] = [lane('busy.test'), lane('other.test')];
  places.prove(busy);
  places.prove(other);
  while (places.take(busy)) busy.connections += 1;
  expect(places.shouldYield(busy, 1, 0)).toBe(false);
  expect(places.take(other)).toBe(false);
  expect(places.shouldYield(busy, 1, 0)).toBe(true);
  busy.connections = 1;
  expect(places.shouldYield(busy, 9, 0)).toBe(false); // its only connection has its turn first
  expect(places.shouldYield(busy, 10, 0)).toBe(true);
  expect(places.shouldYield(busy, 1, 10_000)).toBe(true);
});

test('a free place goes to the tenant that has fewest, and within it to the lane that waits longest', () => {
  const places = new Places(4);
  const taken = Array.from({ length: 100 }, (_, n) => lane(`dead${n}.test`)).filter((one) => places.take(one));
  const [first, second] = [lane('first.test', 2), lane('second.test', 2)];
  expect([taken.length, places.take(first), places.take(second)]).toEqual([3, false, false]);
  expect(places.next()).toBeUndefined();
  const served = taken.map((one) => {
    places.give(one);
    const next = places.next();
    if (next !== undefined) places.take(next);
    return next?.name;
  });
  expect(served).toEqual(['first.test', 'dead3.test', 'second.test']);
});
