import { afterEach, beforeEach, expect, test } from 'vitest';
import { ReaderClient } from '../../../mail/store/engine/reader-client.ts';
import { query, StoreBusy } from '../../../mail/store/engine/types.ts';

/** A reader thread whose queries end it, fill its memory, or answer with how often it was asked. */
const THREAD = `import { parentPort, workerData } from 'node:worker_threads';
  let asked = 0;
  const running = new Int32Array(workerData.running);
  parentPort.on('message', ({ kind, id, name }) => {
    if (kind === 'ping') return parentPort.postMessage({ kind: 'pong' });
    const answer = (value) => parentPort.postMessage({ kind: 'answer', answer: { id, ok: true, value } });
    asked += 1;
    if (name === 'ends') setTimeout(() => process.exit(1), 20);
    if (name === 'fills') setTimeout(() => { const all = []; for (;;) all.push({ n: all.length }); }, 20);
    if (name === 'waits') setTimeout(() => answer(asked), 200);
    if (name === 'blocks') { running[0] = id; for (;;); }
    if (name === 'counts') answer(asked);
    if (name === 'later') setTimeout(() => answer(asked), 7_000);
  });`;

const named = (name: string) => query(name, (_rx, _: { account: number }): Promise<number> => Promise.reject());

/** Interval of signs of life, ms: on a busy machine a thread needs a second to start. */
const BEAT_MS = 1_000;

let client: ReaderClient;
beforeEach(() => {
  const thread = new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`);
  client = new ReaderClient({ thread, database: '', heapMb: 32, beatMs: BEAT_MS });
});
afterEach(() => client.close());

test.each(['ends', 'fills'])('a query that %s the thread fails alone; others are answered', async (name) => {
  const others = [2, 3].map((account) => client.query(named('waits'), { account }));
  await expect(client.query(named(name), { account: 1 })).rejects.toThrow('the reader thread ended');
  // Each ran again as the only query of a thread.
  expect(await Promise.all(others)).toEqual([1, 1]);
  expect(await client.query(named('counts'), { account: 2 })).toBe(1);
});

test('too many queries of one account are refused as busy, those of others are not', async () => {
  const mine = Array.from({ length: 40 }, () => client.query(named('waits'), { account: 1 }));
  const outcomes = Promise.allSettled(mine);
  expect(await client.query(named('waits'), { account: 2 })).toBeGreaterThan(0);
  const refused = (await outcomes).flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  expect(refused).toHaveLength(8);
  for (const reason of refused) expect(reason).toBeInstanceOf(StoreBusy);
});

test('a query that blocks the thread fails alone; others run again in a new thread, together', async () => {
  const others = [2, 3].map((account) => client.query(named('waits'), { account }));
  await expect(client.query(named('blocks'), { account: 1 })).rejects.toThrow('held up its thread');
  expect(await Promise.all(others)).toEqual([2, 2]);
});

test('a thread that responds is not ended, however long a query takes', async () => {
  expect(await client.query(named('later'), { account: 1 })).toBe(1);
});
