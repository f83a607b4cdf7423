import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { quiet } from '../../../mail/log.ts';
import { query } from '../../../mail/store/engine/types.ts';
import { TextClient } from '../../../mail/store/search/text-client.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mailstead-text-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A thread that breaks at its first search in this directory, and answers those of the next thread. */
const BREAKS = `
import { existsSync, writeFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
const broken = workerData.place.path;
parentPort.on('message', (message) => {
  if (message.kind === 'close') return parentPort.close();
  if (message.kind !== 'search') return;
  if (!existsSync(broken)) {
    writeFileSync(broken, '');
    throw new Error('out of order');
  }
  parentPort.postMessage({ kind: 'measured', how: 'gauge', name: 'text_backlog_messages', value: 7 });
  parentPort.postMessage({ kind: 'searched', id: message.id, searched: { kind: 'found', value: 1 } });
});`;

const anything = query('test-anything', () => Promise.resolve(1));

test('a thread that breaks is reported, and another one is started by who asks next', async () => {
  const told: [string, unknown][] = [];
  const thread = new URL(`data:text/javascript,${encodeURIComponent(BREAKS)}`);
  const place = { path: join(directory, 'broken'), database: '', blobs: '' };
  const client = new TextClient(
    { thread, place },
    { ...quiet, error: (fields, text) => void told.push([text, String((fields as { err: Error }).err)]) },
    { ...quiet, count: (name) => void told.push([name, 1]), gauge: (name, value) => void told.push([name, value]) },
  );
  const queried = { account: 1, patienceMs: 1 };
  const both = await Promise.all([1, 2].map(() => client.search(anything, undefined, queried)));
  expect(both).toEqual([{ kind: 'unavailable' }, { kind: 'unavailable' }]);
  expect(told).toEqual([
    ['the full-text thread failed and will be restarted', 'Error: out of order'],
    ['text_failures_total', 1],
  ]);
  expect(await client.search(anything, undefined, queried)).toEqual({ kind: 'found', value: 1 });
  expect(told.at(-1)).toEqual(['text_backlog_messages', 7]);
  await client.close();
  expect(told).toHaveLength(3);
});

/** A thread that answers pings until a search blocks it. */
const BLOCKS = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', (message) => {
  if (message.kind === 'close') return parentPort.close();
  if (message.kind === 'search') for (;;);
  parentPort.postMessage({ kind: 'pong' });
});`;

test('a thread that no longer responds is ended, and its searches can be retried', async () => {
  const told: string[] = [];
  const thread = new URL(`data:text/javascript,${encodeURIComponent(BLOCKS)}`);
  const place = { path: join(directory, 'blocked'), database: '', blobs: '' };
  const log = { ...quiet, error: (fields: object) => void told.push(String((fields as { err: Error }).err)) };
  const client = new TextClient({ thread, place, beatMs: 50 }, log, quiet);
  expect(await client.search(anything, undefined, { account: 1, patienceMs: 1 })).toEqual({ kind: 'unavailable' });
  expect(told).toEqual(['Error: the full-text thread did not respond for 30 s']);
  await client.close();
});
