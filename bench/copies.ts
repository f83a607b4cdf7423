import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ingest } from './lib/ingest-load.ts';
import { startMailstead } from './lib/mailstead.ts';
import { cpuMs } from './lib/process.ts';

/**
 * Continuous copies into a directory: time from the 250 of a message until it is stored there, and the cost of an hour
 * without mail. `npm run bench:copies [messages] [idle seconds] [pause, such as 2s]`.
 */
const MESSAGES = Math.max(20, Number(process.argv[2] ?? 300));
const IDLE_SECONDS = Math.max(10, Number(process.argv[3] ?? 120));
const PAUSE = process.argv[4] ?? '2s';
const GAP_MS = 200;
const LOAD = { connections: 1, octets: 4096, oneEach: false, lmtp: false };

interface StoredSegment {
  /** All that was committed before is in it. */
  at: number;
  /** Time at which it was there. */
  storedAt: number;
}

function segmentsIn(target: string): StoredSegment[] {
  return filesIn(target)
    .flatMap(({ name, changed }) => {
      const at = Number(/\/\d{8}-(\d{15})$/.exec(name)?.[1] ?? NaN);
      return Number.isNaN(at) ? [] : [{ at, storedAt: changed }];
    })
    .toSorted((a, b) => a.at - b.at);
}

function filesIn(target: string): { name: string; size: number; changed: number }[] {
  return readdirSync(target, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const facts = statSync(join(target, name));
    return facts.isFile() ? [{ name, size: facts.size, changed: facts.mtimeMs }] : [];
  });
}

const octetsIn = (target: string): number => filesIn(target).reduce((sum, { size }) => sum + size, 0);
const share = (sorted: readonly number[], part: number): number => sorted[Math.floor(sorted.length * part)] ?? NaN;

const target = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'bench-copies-'));
const ours = await startMailstead(undefined, {
  MAILSTEAD_SPAM_CHECKS: 'off',
  MAILSTEAD_BACKUP_TARGET: target,
  MAILSTEAD_BACKUP_CONTINUOUS: PAUSE,
});
try {
  while (segmentsIn(target).length === 0) {
    await ingest(ours, { ...LOAD, messages: 1 });
    await delay(500);
  }
  const accepted: number[] = [];
  for (let n = 0; n < MESSAGES; n++) {
    await ingest(ours, { ...LOAD, messages: 1 });
    accepted.push(Date.now());
    await delay(GAP_MS);
  }
  await delay(10_000);
  await ingest(ours, { ...LOAD, messages: 1 });
  await delay(10_000);
  const segments = segmentsIn(target);
  const lags = accepted
    .map((time) => (segments.find(({ at }) => at > time)?.storedAt ?? Infinity) - time)
    .toSorted((a, b) => a - b);
  const before = { cpu: cpuMs(ours.roots), octets: octetsIn(target), segments: segments.length };
  await delay(IDLE_SECONDS * 1_000);
  const hours = IDLE_SECONDS / 3_600;
  const cost = {
    cpu: (cpuMs(ours.roots) - before.cpu) / 1_000 / hours,
    octets: (octetsIn(target) - before.octets) / 1_048_576 / hours,
    segments: (segmentsIn(target).length - before.segments) / hours,
  };
  const ms = (value: number): string => `${value.toFixed(0)} ms`;
  console.log(`copies each ${PAUSE}, ${cpus()[0]?.model}`);
  console.log(
    `lag of ${lags.length} messages: p50 ${ms(share(lags, 0.5))}, p99 ${ms(share(lags, 0.99))}, most ${ms(lags.at(-1) ?? NaN)}`,
  );
  console.log(
    `idle, an hour: ${cost.cpu.toFixed(0)} s CPU of the server and the copying process, ${cost.segments.toFixed(0)} copies, ${cost.octets.toFixed(1)} MiB`,
  );
} finally {
  await ours.stop();
  rmSync(target, { recursive: true, force: true });
}
