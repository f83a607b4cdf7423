import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { collectWhenIdle } from '../../../mail/store/engine/idle-gc.ts';

let cpu = 0;
let collections = 0;
let timer: NodeJS.Timeout | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  cpu = collections = 0;
  timer = collectWhenIdle({
    cpu: () => cpu,
    collect: () => {
      collections++;
      cpu += 40;
    },
  });
});
afterEach(() => {
  clearInterval(timer);
  vi.useRealTimers();
});

/** Some seconds, in each of which the thread has so much of a processor. */
function seconds(n: number, ms: number): void {
  for (let i = 0; i < n; i++) {
    cpu += ms;
    vi.advanceTimersByTime(1_000);
  }
}

test('a thread that comes to rest after work collects once', () => {
  seconds(5, 300);
  expect(collections).toBe(0);
  seconds(1, 5);
  expect(collections).toBe(1);
  seconds(30, 1);
  expect(collections).toBe(1);
});

test('one that works on collects nothing', () => {
  seconds(100, 50);
  expect(collections).toBe(0);
});

test('little work adds up, and the collection itself is none', () => {
  seconds(19, 10);
  expect(collections).toBe(0);
  seconds(1, 10);
  expect(collections).toBe(1);
  seconds(19, 10);
  expect(collections).toBe(1);
  seconds(1, 10);
  expect(collections).toBe(2);
});

test('nothing happens where nothing can be collected', () => {
  expect(collectWhenIdle({ collect: undefined })).toBeUndefined();
});

test('the command starts a Node that lets a thread collect', () => {
  expect(readFileSync(join(import.meta.dirname, '../../../bin/mailstead'), 'utf8')).toMatch(/^exec .*--expose-gc/m);
});
