import { expect, test } from 'vitest';
import { batchRun, cancelBatches, eachBatch, runInBatches } from '../../../src/webmail/client/batch-run.ts';
import { chunks } from '../../../src/webmail/client/chunks.ts';
import { keywordChanges, moveChanges } from '../../../src/webmail/client/email-patches.ts';

test.each([
  [[], 2, []],
  [
    [1, 2, 3, 4],
    2,
    [
      [1, 2],
      [3, 4],
    ],
  ],
  [[1, 2, 3], 2, [[1, 2], [3]]],
  [[1, 2], 0, [[1], [2]]],
])('%j in parts of %i is %j', (items, size, parts) => {
  expect(chunks<number>(items, size)).toEqual(parts);
});

test('an action in batches shows its progress, and stops after the batch in which it is cancelled', async () => {
  const seen: unknown[] = [];
  const done = await runInBatches('Archive', 5, (control) =>
    eachBatch(control, chunks([1, 2, 3, 4, 5], 2), async (batch) => {
      seen.push([...batch], batchRun.value?.done);
      if (batch.includes(3)) cancelBatches();
    }),
  );
  expect(done).toBe(4);
  expect(seen).toEqual([[1, 2], 0, [3, 4], 2]);
  expect(batchRun.value).toBeUndefined();
});

test('only one action runs at a time, and one that failed does not stay', async () => {
  const end = Promise.withResolvers<void>();
  const first = runInBatches('Archive', 1, () => end.promise);
  await expect(runInBatches('Junk', 1, () => Promise.resolve())).rejects.toThrow('Another action');
  end.reject(new Error('refused'));
  await expect(first).rejects.toThrow('refused');
  await expect(runInBatches('Junk', 1, () => Promise.resolve('done'))).resolves.toBe('done');
});

const email = (id: string, mailboxIds: Record<string, boolean>, keywords: Record<string, boolean> = {}) => ({
  id,
  keywords,
  mailboxIds,
});

test('a move leaves what is in the folder already, and its undo has the folders from before', () => {
  const { patches, undo } = moveChanges([email('a', { f1: true, f3: true }), email('b', { f2: true })], 'f2');
  expect([...patches]).toEqual([['a', { mailboxIds: { f2: true } }]]);
  expect([...undo]).toEqual([['a', { mailboxIds: { f1: true, f3: true } }]]);
});

test('a keyword is changed where it differs; its name is escaped in the pointer (RFC 6901 3)', () => {
  const emails = [email('a', {}, { 'a/b~c': true }), email('b', {})];
  const { patches, undo } = keywordChanges(emails, 'a/b~c', true);
  expect([...patches]).toEqual([['b', { 'keywords/a~1b~0c': true }]]);
  expect([...undo]).toEqual([['b', { 'keywords/a~1b~0c': null }]]);
});
