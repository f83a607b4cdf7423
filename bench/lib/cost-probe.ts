import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  getEnvironmentData,
  isMainThread,
  MessagePort,
  setEnvironmentData,
  threadId,
  threadName,
  Worker,
} from 'node:worker_threads';
import { probeStatements } from '../../test/support/statement-probe.ts';

/**
 * Preloaded into every thread of a server (`--import`) by bench/cost.ts: counts statements, pages and messages between
 * threads in shared memory. SIGUSR2 writes them to the file that COST_FILE names.
 */
const FIELDS = ['statements', 'commits', 'pages', 'posts'] as const;
const MAX_THREADS = 64;
const KEY = 'cost-probe';

const shared = (getEnvironmentData(KEY) as SharedArrayBuffer | undefined) ?? create();
const own = new Float64Array(shared, (threadId % MAX_THREADS) * FIELDS.length * 8, FIELDS.length);
const counts = Object.defineProperties(
  {},
  Object.fromEntries(
    FIELDS.map((name, at) => [name, { get: () => own[at] ?? 0, set: (value: number) => void (own[at] = value) }]),
  ),
) as Record<(typeof FIELDS)[number], number>;

probeStatements(counts);
for (const { prototype } of [MessagePort, Worker]) {
  const original = prototype as unknown as { postMessage: (this: object, ...all: unknown[]) => void };
  const { postMessage } = original;
  original.postMessage = function (...all) {
    counts.posts++;
    postMessage.apply(this, all);
  };
}
if (isMainThread) void report();

function create(): SharedArrayBuffer {
  const made = new SharedArrayBuffer(MAX_THREADS * FIELDS.length * 8);
  setEnvironmentData(KEY, made);
  return made;
}

async function report(): Promise<void> {
  const path = process.env['COST_FILE'];
  if (path === undefined || threadName === undefined) return;
  await sleep(0, undefined, { ref: false });
  process.on('SIGUSR2', () => {
    const all = new Float64Array(shared);
    const sums = FIELDS.map((name, field) => [name, all.filter((_, at) => at % FIELDS.length === field)] as const);
    const text = JSON.stringify(
      Object.fromEntries(sums.map(([name, each]) => [name, each.reduce((a, b) => a + b, 0)])),
    );
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  });
}
