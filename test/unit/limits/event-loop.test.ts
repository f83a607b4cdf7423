import { expect, test } from 'vitest';
import { yieldToEventLoop } from '../../../mail/limits/event-loop.ts';

/** Blocks the thread so long that the next call gives way. */
function work(): void {
  const began = performance.now();
  while (performance.now() - began < 9);
}

test('of much work that waits, one piece goes on in each iteration of the event loop', async () => {
  let iterations = 0;
  let over = false;
  const count = (): void => {
    iterations++;
    if (!over) setImmediate(count);
  };
  const before: number[] = [];
  const job = async (account: number): Promise<void> => {
    for (let piece = 0; piece < 3; piece++) {
      work();
      await yieldToEventLoop(account);
      before.push(iterations);
    }
  };
  setImmediate(count);
  await Promise.all(Array.from({ length: 10 }, (_, account) => job(account)));
  over = true;
  // Sockets are read between any two.
  expect(new Set(before).size).toBe(before.length);
});

test('accounts take turns: work of one waits for one piece of each other account', async () => {
  const order: number[] = [];
  const job = async (account: number, pieces: number): Promise<void> => {
    for (let piece = 0; piece < pieces; piece++) {
      work();
      await yieldToEventLoop(account);
      order.push(account);
    }
  };
  const busy = Array.from({ length: 20 }, () => job(1, 3));
  await job(2, 3);
  await Promise.all(busy);
  expect(order.lastIndexOf(2)).toBeLessThan(8);
});
