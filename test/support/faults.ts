import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { Box } from './box.ts';
import { Ledger, load, type Numbered } from './load.ts';
import { type Found, readAll } from './mailbox-reader.ts';

/** Returns `full` with `FAULTS_FULL=1`, else the count of repetitions of an ordinary run. */
export function repetitions(full: number, ordinary: number): number {
  return process.env['FAULTS_FULL'] === '1' ? full : ordinary;
}

/** Most CPU time of a start after a fault, as a multiple of the first start of the same box. */
export const MOST_START_RATIO = 4;

/** Everything that a load test must not be slowed down by, and as little log as can be. */
export const UNDER_LOAD = { EXEMPT_NETWORKS: '127.0.0.0/8', LOG_LEVEL: 'warn' };

/** Ids that were acknowledged and are not there. */
export function missing(ledger: Ledger, found: Found): string[] {
  return [...ledger.acknowledged.keys()].filter((id) => !found.copies.has(id));
}

/** Copies beyond the first. */
export function duplicates(found: Found): number {
  let extra = 0;
  for (const copies of found.copies.values()) extra += copies - 1;
  return extra;
}

/** Asserts the promise of the 250: what got one is there, once and unharmed; what did not may be there. */
export async function expectKept(box: Box, ledger: Ledger, mayRepeat: number): Promise<Found> {
  const found = await readAll(box.port('imap'));
  expect(missing(ledger, found), 'acknowledged and missing').toEqual([]);
  expect(found.damaged, 'not as they were sent').toEqual([]);
  expect(duplicates(found), 'duplicates').toBeLessThanOrEqual(mayRepeat);
  return found;
}

/**
 * Sends the queued messages, each until it is acknowledged, while the box is killed and stopped in turn, `restarts`
 * times in all. `down` is called at each end with a promise that resolves when the box runs again.
 */
export async function loadOverRestarts(
  box: Box,
  { queue, restarts, down }: { queue: Numbered[]; restarts: number; down: (up: Promise<void>) => void },
): Promise<Ledger> {
  const ledger = new Ledger();
  const all = queue.length;
  const sendAll = (): Promise<void> => load({ port: box.port('smtp'), queue, ledger, clients: 4 });
  for (let restart = 0; restart < restarts; restart++) {
    const target = Math.floor((all * (restart + 1)) / (restarts + 1));
    const sending = sendAll();
    await Promise.race([acknowledged(ledger, target), sending]);
    const up = (restart % 2 === 0 ? box.kill() : box.stop()).then(() => box.start());
    down(up);
    await up;
    await sending;
  }
  while (queue.length > 0) await sendAll();
  return ledger;
}

function acknowledged(ledger: Ledger, target: number): Promise<void> {
  return new Promise((resolve) => {
    ledger.onAcknowledged = () => {
      if (ledger.acknowledged.size >= target) resolve();
    };
  });
}

/** Asks SQLite whether the database is whole. The box must not run. */
export function expectIntegrity(dataDir: string): void {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'));
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
}

/** An strace that is attached to a process and all its threads. */
export interface Tracer extends AsyncDisposable {
  /** Resolves when it is gone, with or after what it traced. */
  ended: Promise<void>;
}

/** Attaches strace with the given arguments; resolves when every thread is caught. */
export async function attach(pid: number, args: readonly string[]): Promise<Tracer> {
  const child: ChildProcess = spawn('strace', ['-f', '-p', String(pid), ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close').then(() => undefined);
  let said = '';
  const attached = new Promise<void>((resolve, reject) => {
    child.once('error', () => reject(new Error('strace is not installed')));
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (/attached/.test(said)) resolve();
    });
    void ended.then(() => reject(new Error(`strace ended: ${said}`)));
  });
  await attached;
  return {
    ended,
    async [Symbol.asyncDispose]() {
      // SIGINT lets go of the process; anything harder could take it along.
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGINT');
      await ended;
    },
  };
}

/** Resident memory of a process, in octets. */
export async function residentOctets(pid: number): Promise<number> {
  const { readFile } = await import('node:fs/promises');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Returns the least growth of the totals per unit between two of these counts. */
export function leastGrowth(counts: readonly number[], totals: readonly number[]): number {
  const each = counts.slice(1).map((count, i) => {
    const [before = 0, after = 0] = totals.slice(i);
    return (after - before) / (count - (counts[i] ?? 0));
  });
  return Math.min(...each);
}
