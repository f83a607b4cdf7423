import { expect, test } from 'vitest';
import { TurnQueue } from '../../../mail/limits/turn-queue.ts';

test('holders take turns, and each holder is served in order', () => {
  const queue = new TurnQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.push('a', item);
  queue.push('b', 'b1');
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('c')]).toEqual([4, 3, 0]);
  expect(queue.shift()).toBe('a1');
  queue.push('c', 'c1');
  expect([1, 2, 3, 4, 5].map(() => queue.shift())).toEqual(['b1', 'a2', 'c1', 'a3', undefined]);
  expect(queue.size).toBe(0);
});

test('a holder that is not free keeps its turn', () => {
  const queue = new TurnQueue<string>();
  queue.push('a', 'a1');
  queue.push('b', 'b1');
  queue.push('b', 'b2');
  expect(queue.shift((holder) => holder !== 'a')).toBe('b1');
  expect(queue.shift((holder) => holder === 'c')).toBeUndefined();
  expect(queue.shift()).toBe('a1');
  expect(queue.clear()).toEqual(['b2']);
  expect(queue.size).toBe(0);
});
