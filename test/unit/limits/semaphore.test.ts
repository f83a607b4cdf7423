import { describe, expect, test } from 'vitest';
import { Semaphore, SemaphoreUnavailable } from '../../../mail/limits/semaphore.ts';

/** Begins an acquisition and notes its name when it is admitted. */
function noting(semaphore: Semaphore): {
  admitted: string[];
  acquire: (name: string, weight?: number) => Promise<Disposable>;
} {
  const admitted: string[] = [];
  return {
    admitted,
    acquire: async (name, weight) => {
      const permit = await semaphore.acquire(weight);
      admitted.push(name);
      return permit;
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a semaphore', () => {
  test('admits up to its limit, and the others in order', async () => {
    const semaphore = new Semaphore({ limit: 2 });
    const { admitted, acquire } = noting(semaphore);
    const [first, second] = await Promise.all([acquire('first'), acquire('second')]);
    void acquire('third');
    void acquire('fourth');
    await turn();
    expect([admitted, semaphore.held, semaphore.waiting]).toEqual([['first', 'second'], 2, 2]);
    second[Symbol.dispose]();
    await turn();
    expect(admitted).toEqual(['first', 'second', 'third']);
    first[Symbol.dispose]();
    await turn();
    expect([admitted.at(-1), semaphore.held, semaphore.waiting]).toEqual(['fourth', 2, 0]);
  });

  test('never admits a light acquisition before a heavy one that waits', async () => {
    const semaphore = new Semaphore({ limit: 10 });
    const { admitted, acquire } = noting(semaphore);
    const first = await acquire('first', 6);
    void acquire('heavy', 6);
    void acquire('light', 1);
    await turn();
    expect([admitted, semaphore.tryAcquire(1)]).toEqual([['first'], undefined]);
    first[Symbol.dispose]();
    await turn();
    expect(admitted).toEqual(['first', 'heavy', 'light']);
  });

  test('admits what is heavier than its limit alone', async () => {
    const semaphore = new Semaphore({ limit: 10 });
    const { admitted, acquire } = noting(semaphore);
    const whole = await acquire('whole', 50);
    void acquire('next', 1);
    await turn();
    expect(admitted).toEqual(['whole']);
    whole[Symbol.dispose]();
    await turn();
    expect([admitted, semaphore.held]).toEqual([['whole', 'next'], 1]);
  });

  test('releases a permit once, at the end of a block at the latest', async () => {
    const semaphore = new Semaphore({ limit: 2 });
    const other = await semaphore.acquire();
    {
      using permit = await semaphore.acquire();
      permit[Symbol.dispose]();
    }
    expect(semaphore.held).toBe(1);
    other[Symbol.dispose]();
    expect(semaphore.held).toBe(0);
  });

  test('rejects what cannot wait, and says so before', async () => {
    const semaphore = new Semaphore({ limit: 1, maxWaiting: 1 });
    expect(semaphore.isFull).toBe(false);
    const permit = await semaphore.acquire();
    expect(semaphore.isFull).toBe(false);
    const waiting = semaphore.acquire();
    expect(semaphore.isFull).toBe(true);
    await expect(semaphore.acquire()).rejects.toThrow(SemaphoreUnavailable);
    permit[Symbol.dispose]();
    await waiting;
    expect([semaphore.held, semaphore.waiting]).toEqual([1, 0]);
  });

  test('rejects what waited for too long; those behind it are admitted', async () => {
    const semaphore = new Semaphore({ limit: 10, timeoutMs: 20 });
    const permit = await semaphore.acquire(6);
    const heavy = semaphore.acquire(10);
    const light = semaphore.acquire(4);
    await expect(heavy).rejects.toThrow(SemaphoreUnavailable);
    (await light)[Symbol.dispose]();
    permit[Symbol.dispose]();
    expect([semaphore.held, semaphore.waiting]).toEqual([0, 0]);
  });

  test('leaks nothing of acquisitions that are aborted, before or while they wait', async () => {
    const semaphore = new Semaphore({ limit: 1 });
    const permit = await semaphore.acquire();
    const abort = new AbortController();
    const all = Array.from({ length: 100 }, () => semaphore.acquire(1, abort.signal));
    const behind = semaphore.acquire();
    abort.abort(new Error('closed'));
    const outcomes = await Promise.allSettled(all);
    expect(outcomes.every((one) => one.status === 'rejected' && String(one.reason) === 'Error: closed')).toBe(true);
    await expect(semaphore.acquire(1, abort.signal)).rejects.toThrow('closed');
    expect([semaphore.held, semaphore.waiting]).toEqual([1, 1]);
    permit[Symbol.dispose]();
    (await behind)[Symbol.dispose]();
    expect(semaphore.held).toBe(0);
  });

  test('keeps its limit after whatever is acquired, aborted and released', async () => {
    const semaphore = new Semaphore({ limit: 5 });
    let [inside, most, seed] = [0, 0, 7];
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const work = async (): Promise<void> => {
      using _permit = await semaphore.acquire(1, random(4) === 0 ? AbortSignal.timeout(random(3)) : undefined);
      most = Math.max(most, ++inside);
      for (let turns = random(3); turns > 0; turns--) await turn();
      inside--;
    };
    await Promise.allSettled(Array.from({ length: 1_000 }, work));
    expect([most, inside, semaphore.held, semaphore.waiting]).toEqual([5, 0, 0, 0]);
  });
});
