import { expect, test } from 'vitest';
import { ImportAttempt, MAX_CRASHES } from '../../../src/transfers/import-attempt.ts';

const MINUTE = 60_000;

/** One run after the other, each of which ends with the server after these counts; true: all were allowed to run. */
function mayRun(runs: readonly { imported: number; known: number }[]): boolean {
  let progress = '{}';
  return runs.every((counts) => {
    const attempt = new ImportAttempt(progress);
    if (attempt.isHopeless) return false;
    attempt.note({ imported: 0, known: 0, skipped: 0, total: null });
    attempt.note({ ...counts, skipped: 0, total: null });
    progress = JSON.stringify(attempt.stored);
    return true;
  });
}

test('a pull that gets further each time survives any number of crashes, though it counts only what is new', () => {
  // A pull does not read again what the run before has pulled.
  expect(
    mayRun([{ imported: 9_000, known: 0 }, ...Array.from({ length: 20 }, () => ({ imported: 10, known: 0 }))]),
  ).toBe(true);
});

test('an import of files that gets further each time survives any number of crashes', () => {
  const runs = Array.from({ length: 20 }, (_, n) => ({ imported: 0, known: (n + 1) * 100 }));
  expect(mayRun(runs)).toBe(true);
});

test('an import that ends the server at one message is given up after some crashes', () => {
  const stuck = (runs: number) => Array.from({ length: runs }, () => ({ imported: 0, known: 100 }));
  expect(mayRun(stuck(MAX_CRASHES + 1))).toBe(true);
  expect(mayRun(stuck(MAX_CRASHES + 2))).toBe(false);
});

test('a server that ends often for another reason does not end the import: it pauses longer each time', () => {
  const pauses: number[] = [];
  let progress = '{}';
  for (let n = 0; n < MAX_CRASHES; n++) {
    let attempt = new ImportAttempt(progress);
    pauses.push(attempt.crashPauseMs);
    if (attempt.crashPauseMs > 0) {
      attempt.postpone();
      // Any number of crashes while it waits count nothing.
      attempt = new ImportAttempt(JSON.stringify({ ...attempt.stored, retryAt: 1 }));
      expect(attempt.crashPauseMs).toBe(0);
    }
    expect(attempt.isHopeless).toBe(false);
    progress = JSON.stringify(attempt.stored);
  }
  expect(pauses).toEqual([0, 0, 0, 10_000, MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE]);
});

test('a failure that passes is tried again after longer pauses, until its patience ends', () => {
  let now = 0;
  let progress = '{}';
  const pauses: number[] = [];
  for (;;) {
    const attempt = new ImportAttempt(progress);
    const next = attempt.retryAfterFailure(now, 240 * MINUTE);
    if (next === undefined) break;
    pauses.push((next - now) / MINUTE);
    now = next;
    progress = JSON.stringify({ ...attempt.stored, retryAt: next });
  }
  expect(pauses).toEqual([1, 2, 4, 8, 15, 30, 60, 60, 60]);
});

test('an import that gets further has all its patience again', () => {
  const first = new ImportAttempt('{}');
  first.retryAfterFailure(0, MINUTE);
  const second = new ImportAttempt(JSON.stringify({ ...first.stored, retryAt: MINUTE }));
  second.note({ imported: 1, known: 0, skipped: 0, total: 5 });
  expect(second.retryAfterFailure(MINUTE, MINUTE)).toBe(2 * MINUTE);
  expect(second.hasBegun).toBe(true);
});
