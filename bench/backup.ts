import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ingest } from './lib/ingest-load.ts';
import { startMailstead } from './lib/mailstead.ts';

/**
 * Ingest alone and while backups run one after the other, interleaved; then one full, one empty and one incremental
 * backup: seconds and octets. `npm run bench:backup [rounds]`. BENCH_DIR says which disk has the data.
 */
const ROUNDS = Math.max(1, Number(process.argv[2] ?? 5));
const PREFILL = 20_000;
const MESSAGES = 10_000;
const LOAD = { connections: 10, octets: 4096, oneEach: false, lmtp: false };
const COMMAND = join(import.meta.dirname, '../bin/mailstead');

interface BackupFigures {
  snapshot: { messages: number; size: number; added: number };
  seconds: number;
}

async function backUp(dataDir: string, target: string, rate?: string): Promise<BackupFigures> {
  const env = { ...process.env, ...(rate !== undefined && { MAILSTEAD_BACKUP_RATE: rate }) };
  const child = spawn(COMMAND, ['backup', target, '--data-dir', dataDir, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`the backup ended with ${code}`);
  return JSON.parse(text) as BackupFigures;
}

/** Backs up again and again, each time all of it, until `stop` is aborted. */
async function backUpMeanwhile(dataDir: string, parent: string, stop: AbortSignal): Promise<number> {
  for (let count = 0; ; count++) {
    if (stop.aborted) return count;
    const target = mkdtempSync(join(parent, 'full-'));
    await backUp(dataDir, target);
    rmSync(target, { recursive: true });
  }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const mib = (octets: number): string => `${(octets / 1_048_576).toFixed(1)} MiB`;

const parent = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'bench-backup-'));
const ours = await startMailstead(undefined, { MAILSTEAD_SPAM_CHECKS: 'off' });
const { dataDir } = ours;
try {
  await ingest(ours, { ...LOAD, messages: PREFILL });
  const rounds: { alone: number; beside: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await ingest(ours, { ...LOAD, messages: MESSAGES });
    const stop = new AbortController();
    const backups = backUpMeanwhile(dataDir, parent, stop.signal);
    const beside = await ingest(ours, { ...LOAD, messages: MESSAGES });
    stop.abort();
    await backups;
    rounds.push({ alone: alone.perSecond, beside: beside.perSecond });
    process.stderr.write(`  ${round + 1}/${ROUNDS}: ${alone.perSecond.toFixed(0)} / ${beside.perSecond.toFixed(0)}\n`);
  }
  const ratio = median(rounds.map(({ alone, beside }) => beside / alone));
  console.log(
    `ingest beside full backups: ${(ratio * 100).toFixed(1)} % of the rate alone (median of ${ROUNDS} rounds)`,
  );
  const target = join(parent, 'target');
  const show = (name: string, { snapshot, seconds }: BackupFigures): void =>
    console.log(
      `${name}: ${snapshot.messages} messages, ${mib(snapshot.size)}, stored ${mib(snapshot.added)} in ${seconds.toFixed(1)} s`,
    );
  const full = await backUp(dataDir, target, '0');
  show('full, at any pace', full);
  show('nothing new', await backUp(dataDir, target, '0'));
  await ingest(ours, { ...LOAD, messages: Math.round(full.snapshot.messages / 100) });
  show('after 1 % new mail', await backUp(dataDir, target, '0'));
} finally {
  await ours.stop();
  rmSync(parent, { recursive: true, force: true });
}
