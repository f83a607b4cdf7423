import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { busy } from '../support/busy.ts';
import { attach, expectIntegrity, expectKept, residentOctets, UNDER_LOAD } from '../support/faults.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const FLUSHES = 'fsync,fdatasync';

describe('a flush that fails', () => {
  test.each([
    { name: 'from the first one on', when: '1+' },
    { name: 'from the sixth one on', when: '6+' },
    { name: 'once, the first', when: '1' },
    { name: 'once, the sixth', when: '6' },
  ])('ends the process and is never tried again: $name', async ({ when }) => {
    await using box = await startBox({ settings: UNDER_LOAD });
    const directory = await mkdtemp(join(tmpdir(), 'flush-'));
    const trace = join(directory, 'trace');
    const ledger = new Ledger();
    const queue = numberedMany(`eio-${when}`, 2000, 3);
    // Small messages only: the flush of a large one fails for itself, which ends that message and not the process.
    queue.splice(0, queue.length, ...queue.filter((message) => message.wire.length < 60_000));
    await attach(box.pid, [
      '-ttt',
      '-o',
      trace,
      '-e',
      `trace=${FLUSHES}`,
      '-e',
      `inject=${FLUSHES}:error=EIO:when=${when}`,
    ]);
    await load({ port: box.port('smtp'), queue, ledger, clients: 8 });
    const end = await box.ended();
    const endedAt = Date.now();
    expect(end).toEqual({ code: 70, signal: null });
    const failedAt = (await failures(trace))[0] ?? 0;
    expect(endedAt - failedAt).toBeLessThan(2000 * busy());
    // An answer may follow its flush late, and read later where the machine is busy; nothing else
    // is: a box that went on after the failure would answer until the 2,000 messages are sent.
    const late = [...ledger.acknowledged.values()].filter((at) => at > failedAt + 500 * busy());
    expect(late, '250 after a flush that failed').toEqual([]);
    if (when === '1' || when === '1+') expect(ledger.acknowledged.size).toBe(0);
    else expect(ledger.acknowledged.size).toBeGreaterThan(0);
    expect(ledger.refusals.filter((reply) => !/^4[25]1 /.test(reply))).toEqual([]);
    await box.start();
    await expectKept(box, ledger, 0);
    await box.stop();
    expectIntegrity(box.dataDir);
    await rm(directory, { recursive: true });
  });
});

/** When strace made a flush fail, in ms UTC. */
async function failures(trace: string): Promise<number[]> {
  const lines = (await readFile(trace, 'latin1')).split('\n').filter((line) => line.includes('(INJECTED)'));
  return lines.map((line) => Number(/ (\d+\.\d+) /.exec(line)?.[1]) * 1000);
}

test('a slow disk slows the answers down, nothing else, and takes no memory', async () => {
  const CLIENTS = 100;
  const SLOW_MS = 2000;
  await using box = await startBox({ settings: UNDER_LOAD });
  const ledger = new Ledger();
  await load({ port: box.port('smtp'), queue: numberedMany('before', 200, 1), ledger, clients: 8 });
  using reader = await MailboxReader.open(box.port('imap'));
  await reader.command('SELECT INBOX');
  const baseline = await residentOctets(box.pid);
  const queue = numberedMany('slow', 2 * CLIENTS, 2);
  await using _ = await attach(box.pid, [
    '-o',
    '/dev/null',
    '-e',
    `trace=${FLUSHES}`,
    '-e',
    `inject=${FLUSHES}:delay_enter=${SLOW_MS * 1000}`,
  ]);
  const began = Date.now();
  const over = new AbortController();
  const sending = load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS }).finally(() => over.abort());
  const waits: number[] = [];
  let most = 0;
  while (!over.signal.aborted) {
    const asked = performance.now();
    await reader.command('FETCH 1:10 (FLAGS BODY.PEEK[])');
    waits.push(performance.now() - asked);
    most = Math.max(most, await residentOctets(box.pid));
    await delay(100);
  }
  await sending;
  expect(ledger.refusals).toEqual([]);
  expect(ledger.acknowledged.size).toBe(200 + 2 * CLIENTS);
  const early = [...ledger.acknowledged].filter(([id, at]) => id.startsWith('slow') && at < began + SLOW_MS);
  expect(early, '250 before the first flush was over').toEqual([]);
  console.log(
    `reads while the disk was slow: ${waits.length}, longest ${Math.round(Math.max(...waits))} ms; ${Math.round((most - baseline) / 2 ** 20)} MiB more`,
  );
  // A read that waited for the disk would take half of a flush on average.
  const delayed = waits.filter((ms) => ms > SLOW_MS / 2);
  expect(delayed.length / waits.length).toBeLessThan(0.1);
  expect(most - baseline).toBeLessThan(150 * 2 ** 20);
});
