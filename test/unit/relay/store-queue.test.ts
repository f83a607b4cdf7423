import { afterEach, expect, test, vi } from 'vitest';
import { StoreQueue } from '../../../mail/relay/store-queue.ts';
import type { MailStore } from '../../../mail/store/store.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a burst of messages is one look at once and one for all the others', () => {
  vi.useFakeTimers();
  const queue = new StoreQueue({ store: {} as MailStore, hold: null, traceId: () => '' });
  let looks = 0;
  queue.onChange(() => {
    looks += 1;
  });
  for (let i = 0; i < 100; i++) queue.changed();
  expect(looks).toBe(1);
  vi.advanceTimersByTime(20);
  expect(looks).toBe(2);
  vi.advanceTimersByTime(20);
  expect(looks).toBe(2);
  queue.changed();
  expect(looks).toBe(3);
});
