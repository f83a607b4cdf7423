import { expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { StoreBusy } from '../../../mail/store/engine/types.ts';
import { Notifier, type NoticeSource } from '../../../src/notices/notifier.ts';
import { letterTo } from '../../support/people.ts';

interface Probe {
  notifier: Notifier;
  marked: number[];
  logged: [level: string, fields: object, message: string][];
  counted: unknown[][];
  queued: () => number;
  finished: () => number;
}

/** A notifier with one source of three events. */
function probe(over: Partial<NoticeSource<number>> = {}): Probe {
  const marked: number[] = [];
  const logged: Probe['logged'] = [];
  const counted: unknown[][] = [];
  let [queued, finished] = [0, 0];
  const source: NoticeSource<number> = {
    kind: 'canary-alert',
    everyMs: 5_000,
    event: { level: 'warn', message: 'it happened' },
    async *due() {
      yield* await Promise.resolve([1, 2, 3]);
    },
    compose: () => Promise.resolve({ notices: [letterTo('owner@elsewhere.test')] }),
    mark(due) {
      marked.push(due);
      return Promise.resolve({ due });
    },
    finished: () => finished++,
    ...over,
  };
  const say =
    (level: string) =>
    (fields: object, message: string): void =>
      void logged.push([level, fields, message]);
  const notifier = new Notifier({
    sources: [source],
    queued: () => queued++,
    log: { ...quiet, warn: say('warn'), error: say('error') },
    metrics: { ...quiet, count: (...what: unknown[]) => void counted.push(what) },
  });
  return { notifier, marked, logged, counted, queued: () => queued, finished: () => finished };
}

test('every due event is marked, logged and counted, and the relay woken', async () => {
  const made = probe();
  await made.notifier.run();
  expect(made.marked).toEqual([1, 2, 3]);
  expect(made.logged[0]).toEqual(['warn', { due: 1, notices: 1 }, 'it happened']);
  expect(made.counted[0]).toEqual(['notices_total', { kind: 'canary-alert' }, 1]);
  expect([made.queued(), made.finished()]).toEqual([3, 1]);
});

test('an event that another run marked is neither logged nor counted', async () => {
  const made = probe({ mark: () => Promise.resolve(undefined) });
  await made.notifier.run();
  expect([made.logged, made.counted, made.queued(), made.finished()]).toEqual([[], [], 0, 1]);
});

test('an event without anything to say is not marked', async () => {
  const made = probe({ compose: () => Promise.resolve(undefined) });
  await made.notifier.run();
  expect([made.marked, made.queued()]).toEqual([[], 0]);
});

test('an event that fails keeps back none behind it, and the run fails, so that it is retried', async () => {
  const compose = (due: number) =>
    due === 2 ? Promise.reject(new Error('no')) : Promise.resolve({ notices: [letterTo('owner@elsewhere.test')] });
  const made = probe({ compose });
  await expect(made.notifier.run()).rejects.toThrow('1 notices of kind canary-alert failed');
  expect([made.marked, made.finished()]).toEqual([[1, 3], 0]);
  expect(made.logged.map(([level]) => level)).toEqual(['warn', 'error', 'warn']);
});

test('a store that takes nothing ends the run at once', async () => {
  const made = probe({ mark: () => Promise.reject(new StoreBusy('disk-full', 'the disk is full')) });
  await expect(made.notifier.run()).rejects.toThrow(StoreBusy);
  expect(made.logged).toEqual([]);
});

test('a run that is to stop notifies of nothing more', async () => {
  const stop = new AbortController();
  const made = probe({
    mark: (due) => {
      stop.abort();
      return Promise.resolve({ due });
    },
  });
  await made.notifier.run(stop.signal);
  expect([made.queued(), made.finished()]).toEqual([1, 0]);
});

test('each source is a job of its own', () => {
  const { notifier } = probe({ firstMs: 10 });
  expect(notifier.jobs()).toMatchObject([{ name: 'notices/canary-alert', everyMs: 5_000, firstMs: 10 }]);
});
