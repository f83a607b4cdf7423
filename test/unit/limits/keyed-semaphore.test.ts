import { expect, test } from 'vitest';
import { KeyedSemaphore } from '../../../mail/limits/keyed-semaphore.ts';

const held = (permits: readonly unknown[]): number => permits.filter((one) => one !== undefined).length;

test('each key has its limit', () => {
  const requests = new KeyedSemaphore({ credential: 4 });
  const acquire = (credential: string): unknown => requests.tryAcquire({ credential });
  expect(held(Array.from({ length: 10 }, () => acquire('one')))).toBe(4);
  expect(held([acquire('another')])).toBe(1);
  expect([requests.count('credential', 'one'), requests.count('credential', 'nobody')]).toEqual([4, 0]);
});

test('made-up hosts give an organization no more than its share, nor all of them together more than there is', () => {
  const receivers = new KeyedSemaphore({ host: 10, organization: 40 }, 100);
  const acquire = (organization: number, hosts: number): number =>
    held(
      Array.from({ length: 60 }, (_, n) =>
        receivers.tryAcquire({ host: `h${n % hosts}.${organization}`, organization }),
      ),
    );
  expect([acquire(1, 1), acquire(2, 60), acquire(3, 60), acquire(4, 60)]).toEqual([10, 40, 40, 10]);
  expect([receivers.held, receivers.isFull]).toEqual([100, true]);
});

test('what is refused counts nowhere', () => {
  const receivers = new KeyedSemaphore({ host: 1, organization: 2 });
  using _first = receivers.tryAcquire({ host: 'a', organization: 1 });
  expect(receivers.tryAcquire({ host: 'a', organization: 1 })).toBeUndefined();
  expect([receivers.count('organization', 1), receivers.held]).toEqual([1, 1]);
});

test('a permit is released once, and nothing is remembered of what is not held', () => {
  const requests = new KeyedSemaphore({ credential: 2 });
  {
    using permit = requests.tryAcquire({ credential: 'one' });
    requests.tryAcquire({ credential: 'one' })?.[Symbol.dispose]();
    expect(permit).toBeDefined();
  }
  const permit = requests.tryAcquire({ credential: 'one' });
  permit?.[Symbol.dispose]();
  permit?.[Symbol.dispose]();
  expect([requests.held, requests.size]).toEqual([0, 0]);
});
