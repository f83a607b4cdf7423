import { expect, test } from 'vitest';
import { StoreQueue } from '../../../mail/relay/store-queue.ts';
import type { MailStore } from '../../../mail/store/store.ts';

test('a burst of messages is one look at once and one for all the others', async () => {
  const queue = new StoreQueue({ store: {} as MailStore, hold: null, traceId: () => '' });
  let looks = 0;
  const second = Promise.withResolvers<void>();
  queue.onChange(() => {
    looks += 1;
    if (looks === 2) second.resolve();
  });
  for (let i = 0; i < 100; i++) queue.changed();
  expect(looks).toBe(1);
  await second.promise;
  for (let i = 0; i < 100; i++) queue.changed();
  expect(looks).toBe(2);
});
