import { expect, test } from 'vitest';
import type { QueueItem } from '../../../mail/relay/relay-queue.ts';
import { DestinationQueue } from '../../../mail/relay/destination-queue.ts';
import { ConnectionAllocator } from '../../../mail/relay/connection-allocator.ts';

function lane(name: string, tenant = 1): DestinationQueue {
  const made = new DestinationQueue(name, { first: 2, most: 20 });
  made.waiting.push([{ tenant, owner: tenant } as QueueItem]);
  return made;
}

function fill(connections: ConnectionAllocator, count: number, prefix: string): number {
  let taken = 0;
  for (let n = 0; n < count; n += 1) if (connections.allocate(lane(`${prefix}${n}.test`))) taken += 1;
  return taken;
}

test('destinations that never answered get three quarters of the connections, those that did the rest too', () => {
  const connections = new ConnectionAllocator(100);
  expect(fill(connections, 1000, 'dead')).toBe(75);
  const good = lane('good.test');
  expect(connections.allocate(good)).toBe(false);
  connections.markResponsive(good);
  let taken = 0;
  while (connections.allocate(good)) taken += 1;
  expect(taken).toBe(25);
  expect(connections.allocated).toBe(100);
});

test('a destination that stops answering is held to the share again', () => {
  const connections = new ConnectionAllocator(4);
  const one = lane('one.test');
  connections.markResponsive(one);
  expect(connections.allocate(one)).toBe(true);
  connections.release(one);
  connections.markUnproven(one);
  expect(fill(connections, 3, 'dead')).toBe(3);
  expect(connections.allocate(one)).toBe(false);
});

test('a connection yields to a destination that has none', () => {
  const connections = new ConnectionAllocator(2);
  const [busy, other] = [lane('busy.test'), lane('other.test')];
  connections.markResponsive(busy);
  connections.markResponsive(other);
  while (connections.allocate(busy)) busy.connections += 1;
  expect(connections.shouldYield(busy, 1, 0)).toBe(false);
  expect(connections.allocate(other)).toBe(false);
  expect(connections.shouldYield(busy, 1, 0)).toBe(true);
  busy.connections = 1;
  expect(connections.shouldYield(busy, 9, 0)).toBe(false); // its only connection has its turn first
  expect(connections.shouldYield(busy, 10, 0)).toBe(true);
  expect(connections.shouldYield(busy, 1, 10_000)).toBe(true);
});

test('a free connection goes to the tenant that has fewest, and within it to the lane that waits longest', () => {
  const connections = new ConnectionAllocator(4);
  const taken = Array.from({ length: 100 }, (_, n) => lane(`dead${n}.test`)).filter((one) => connections.allocate(one));
  const [first, second] = [lane('first.test', 2), lane('second.test', 2)];
  expect([taken.length, connections.allocate(first), connections.allocate(second)]).toEqual([3, false, false]);
  expect(connections.next()).toBeUndefined();
  const served = taken.map((one) => {
    connections.release(one);
    const next = connections.next();
    if (next !== undefined) connections.allocate(next);
    return next?.name;
  });
  expect(served).toEqual(['first.test', 'dead3.test', 'second.test']);
});
