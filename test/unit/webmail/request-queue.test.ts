import { expect, test } from 'vitest';
import { RequestQueue } from '../../../src/webmail/client/request-queue.ts';

test('at most so many requests run at once, in their order, also after one that failed', async () => {
  const queue = new RequestQueue(2);
  const begun: number[] = [];
  const ends: PromiseWithResolvers<void>[] = [];
  const results = Array.from({ length: 5 }, (_, n) =>
    queue.run(async () => {
      begun.push(n);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
      return n;
    }),
  );
  const settled = Promise.allSettled(results);
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error('refused'));
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (let n = 0; n < 5; n++) {
    await expect.poll(() => ends.length > n).toBe(true);
    ends[n]?.resolve();
  }
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ]);
  await expect(queue.run(() => Promise.resolve('again'))).resolves.toBe('again');
});
