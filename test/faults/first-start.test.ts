import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Box } from '../support/box.ts';
import { expectIntegrity, MOST_START_RATIO, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const KILLS = 150;
/** Samples one write in N and every flush: between two flushes the disk may hold any of the writes. 1 samples all. */
const EVERY = repetitions(1, 8);
/** Starts at a time: there are two cores at least. */
const LANES = 2;

/** One system call of one of the threads; strace counts for each thread by itself. */
interface Moment {
  call: string;
  count: number;
}

test(`a first start that is killed at one in ${EVERY} of its first ${KILLS} writes, or a flush, is completed by the next`, async () => {
  const all = await writesOfAStart();
  expect(all.length).toBeGreaterThanOrEqual(KILLS);
  const moments = [
    ...all.filter(({ call }, nth) => call !== 'pwrite64' || nth % EVERY === 0),
    ...['link', 'rename', 'unlink'].map((call) => ({ call, count: 1 })),
  ];
  const ordinary = await costOfAStart();
  const starts: number[] = [];
  const lane = async (): Promise<void> => {
    for (let moment = moments.shift(); moment !== undefined; moment = moments.shift()) {
      starts.push(await killedAt(moment));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const dearest = Math.max(...starts);
  console.log(
    `${starts.length} first starts killed, ${dearest} ms of CPU at most for the next, ${ordinary} ms otherwise`,
  );
  expect(dearest / ordinary).toBeLessThan(MOST_START_RATIO);
});

/** Returns the CPU time of a first start that nothing interrupts, ms. */
async function costOfAStart(): Promise<number> {
  await using directory = await temporary();
  await using box = new Box(directory.path, { dataDir: directory.path, settings: UNDER_LOAD });
  await box.start();
  return box.startCpu;
}

/** Where a start writes and flushes: each call of each thread, as far as strace can aim at it. */
async function writesOfAStart(): Promise<Moment[]> {
  await using directory = await temporary();
  const trace = join(directory.path, 'trace');
  const box = boxOn(directory.path, ['-o', trace, '-e', 'trace=fsync,fdatasync,pwrite64']);
  await using _ = box;
  await box.start();
  await box.kill();
  // strace writes the rest of the file when it sees the end.
  const written = async (): Promise<string> => readFile(trace, 'latin1');
  await vi.waitUntil(async () => /^\d+ +\+\+\+ killed by SIGKILL/m.test(await written()), { timeout: 60_000 });
  const counts = new Map<string, number>();
  const moments = new Map<string, Moment>();
  for (const line of (await written()).split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(fsync|fdatasync|pwrite64)\(/.exec(line) ?? [];
    if (call === '') continue;
    const count = (counts.get(thread + call) ?? 0) + 1;
    counts.set(thread + call, count);
    // The first thread that comes so far is the one that is hit.
    if (moments.size < KILLS) moments.set(`${call} ${count}`, { call, count });
  }
  return [...moments.values()];
}

async function killedAt({ call, count }: Moment): Promise<number> {
  await using directory = await temporary();
  const killed = boxOn(directory.path, [
    '-o',
    '/dev/null',
    '-e',
    `trace=${call}`,
    '-e',
    `inject=${call}:signal=SIGKILL:when=${count}`,
  ]);
  await expect(killed.start(), `${call} ${count}`).rejects.toThrow(/before it was ready/);
  await using box = new Box(directory.path, { dataDir: directory.path, settings: UNDER_LOAD });
  await box.start();
  using reader = await MailboxReader.open(box.port('imap'));
  expect((await reader.command('SELECT INBOX')).toString(), `${call} ${count}`).toMatch(/^\* 0 EXISTS/m);
  await box.stop();
  expectIntegrity(directory.path);
  return box.startCpu;
}

/**
 * `-D`: strace stands beside the server and not above it, so that signals reach the server. Not `--seccomp-bpf`: strace 6.1
 * then counts the calls of each thread wrongly.
 */
function boxOn(dataDir: string, strace: readonly string[]): Box {
  return new Box(dataDir, {
    dataDir,
    settings: UNDER_LOAD,
    wrapper: ['strace', '-D', '-f', '-q', ...strace],
  });
}

async function temporary(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'first-start-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
