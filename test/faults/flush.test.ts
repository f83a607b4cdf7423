import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startBox } from '../support/box.ts';
import { attach, expectIntegrity, expectKept, residentOctets, UNDER_LOAD } from '../support/faults.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const FLUSHES = 'fsync,fdatasync';
/** Clients that send at the same time: one flush acknowledges a message of each at most. */
const SENDERS = 8;

describe('a flush that fails', () => {
  test.each([
    { name: 'from the first one on', when: '1+', before: 0 },
    { name: 'from the sixth one on', when: '6+', before: 5 },
    { name: 'once, the first', when: '1', before: 0 },
    { name: 'once, the sixth', when: '6', before: 5 },
  ])('ends the process and is never tried again: $name', async ({ when, before }) => {
    await using box = await startBox({ settings: UNDER_LOAD });
    const ledger = new Ledger();
    const queue = numberedMany(`eio-${when}`, 2000, 3);
    // Small messages only: the flush of a large one fails for itself, which ends that message and not the process.
    queue.splice(0, queue.length, ...queue.filter((message) => message.wire.length < 60_000));
    await attach(box.pid, [
      '-o',
      '/dev/null',
      '-e',
      `trace=${FLUSHES}`,
      '-e',
      `inject=${FLUSHES}:error=EIO:when=${when}`,
    ]);
    await load({ port: box.port('smtp'), queue, ledger, clients: SENDERS });
    expect(await box.ended()).toEqual({ code: 70, signal: null });
    // A box that went on after the failure would acknowledge all 2,000 messages.
    expect(ledger.acknowledged.size, '250 after a flush that failed').toBeLessThanOrEqual(before * SENDERS);
    if (before > 0) expect(ledger.acknowledged.size).toBeGreaterThan(0);
    expect(ledger.refusals.filter((reply) => !/^4[25]1 /.test(reply))).toEqual([]);
    await box.start();
    await expectKept(box, ledger, 0);
    await box.stop();
    expectIntegrity(box.dataDir);
  });
});

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
    const queried = performance.now();
    await reader.command('FETCH 1:10 (FLAGS BODY.PEEK[])');
    waits.push(performance.now() - queried);
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
