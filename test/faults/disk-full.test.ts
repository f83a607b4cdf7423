import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { loadSettings } from '../../config/load.ts';
import { startAppliance } from '../../src/start/appliance.ts';
import { openMetrics } from '../../src/core/metrics.ts';
import { startBox } from '../support/box.ts';
import { SmallDisk } from '../support/disk.ts';
import { duplicates, expectIntegrity, expectKept, missing, UNDER_LOAD } from '../support/faults.ts';
import { Ledger, load, numbered, numberedMany } from '../support/load.ts';
import { MailboxReader, readAll } from '../support/mailbox-reader.ts';

const PASSWORD = 'correct-horse-battery';

test('the guard refuses mail while there is still room for everything else, and lets it in again', async () => {
  using disk = new SmallDisk('tmpfs', 200);
  await using box = await startBox({ dataDir: disk.path, settings: UNDER_LOAD });
  const port = box.port('smtp');
  const ledger = new Ledger();
  await load({ port, queue: numberedMany('before', 50, 1), ledger, clients: 4 });
  disk.fill(50 * 2 ** 20);
  await box.logged((line) => line.msg.startsWith('disk nearly full'));
  const queue = numberedMany('during', 8, 2);
  await load({ port, queue, ledger, clients: 1 });
  expect(ledger.refusals).toEqual(['452 4.3.1 The disk is nearly full, try again later']);
  await expectServed(box.port('imap'), 50);
  disk.release();
  await expectTaken({ port, ledger });
  await load({ port, queue, ledger, clients: 1 });
  await expectKept(box, ledger, 0);
  await box.stop();
  expectIntegrity(disk.path);
});

test.each(['tmpfs', 'ext4'] as const)(
  'a disk that is really full (%s): later, reading goes on, it recovers by itself',
  async (kind) => {
    using disk = new SmallDisk(kind, 64);
    const fatal: Error[] = [];
    await using appliance = await onDisk(disk.path, fatal);
    const port = appliance.listeners.smtp ?? 0;
    const imap = appliance.listeners.imap ?? 0;
    const ledger = new Ledger();
    await load({ port, queue: numberedMany('before', 50, 1), ledger, clients: 4 });
    for (let round = 0; round < 5; round++) {
      // A little room is left the first times: the disk is to fill up in the middle of things.
      disk.fill(Math.max(0, 3 - round) * 300_000);
      const queue = numberedMany(`full-${round}`, 200, 1000 * round);
      for (let tries = 0; tries < 20; tries++) await load({ port, queue, ledger, clients: 8 });
      expect(fatal).toEqual([]);
      expect(ledger.refusals.length, 'the disk was never full').toBeGreaterThan(0);
      expect(ledger.refusals.filter((reply) => !reply.startsWith('452 4.3.1 '))).toEqual([]);
      ledger.refusals.length = 0;
      await expectServed(imap, ledger.acknowledged.size, () => disk.fill());
      disk.release();
      await expectTaken({ port, ledger });
    }
    const found = await readAll(imap);
    expect(missing(ledger, found)).toEqual([]);
    expect(found.damaged).toEqual([]);
    expect(duplicates(found)).toBe(ledger.unanswered);
    await appliance[Symbol.asyncDispose]();
    expectIntegrity(disk.path);
  },
);

/** The appliance without the guard, so that the disk is met as it is. */
async function onDisk(dataDir: string, fatal: Error[]): ReturnType<typeof startAppliance> {
  const endpoints = ['SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'HTTP', 'HTTPS'].map((door) => [
    `MAILSTEAD_${door}_PORT`,
    '0',
  ]);
  const env = {
    ...Object.fromEntries(endpoints),
    MAILSTEAD_DATA_DIR: dataDir,
    MAILSTEAD_LOCAL_PASSWORD: PASSWORD,
    MAILSTEAD_EXEMPT_NETWORKS: '127.0.0.0/8',
  };
  const settings = loadSettings(env, []);
  if ('problem' in settings) throw new Error(settings.problem);
  const { quiet } = await import('../../mail/log.ts');
  return startAppliance({
    settings,
    log: quiet,
    metrics: openMetrics(),
    clock: Date.now,
    fatal: (error) => fatal.push(error),
    keepFree: 0,
  });
}

/** Guard against what hangs. */
const MAX_TRIES = 1_000;

/** Logging in, reading and being refused politely go on. `refill`: fills a disk again on which room may come back. */
async function expectServed(imap: number, total: number, refill?: () => void): Promise<void> {
  using reader = await MailboxReader.open(imap);
  expect((await reader.command('SELECT INBOX')).toString('latin1')).toMatch(new RegExp(`^\\* ${total} EXISTS`, 'm'));
  expect((await reader.command('FETCH 1:20 (FLAGS BODY.PEEK[])')).toString('latin1')).toMatch(/^\d+ OK /m);
  for (const octets of [20_000, 200_000]) {
    const message = numbered(`append-${octets}`, octets, octets).wire.subarray(0, -3);
    const append = (): Promise<string> => reader.append('Drafts', message);
    const answer = refill === undefined ? await append() : await appendUntilFull(append, refill);
    expect(answer).toMatch(/^\d+ NO \[UNAVAILABLE\] /);
  }
  expect((await reader.command('NOOP')).toString('latin1')).toMatch(/^\d+ OK /m);
}

/** Appends until a message is refused: the text index gives back the room of its journal, which may take some more. */
async function appendUntilFull(append: () => Promise<string>, refill: () => void): Promise<string> {
  let answer = await append();
  for (let tries = 0; tries < MAX_TRIES && / OK /.test(answer); tries++) {
    refill();
    answer = await append();
  }
  return answer;
}

/** Waits until mail is taken again. */
async function expectTaken({ port, ledger }: { port: number; ledger: Ledger }): Promise<void> {
  const queue = [numbered(`again-${ledger.dots}`, 1000, ledger.dots)];
  const refusals = ledger.refusals.length;
  for (let tries = 0; queue.length > 0; tries++) {
    expect(tries, 'tries until mail is taken again').toBeLessThan(MAX_TRIES);
    if (tries > 0) await delay(50);
    await load({ port, queue, ledger, clients: 1 });
  }
  ledger.refusals.length = refusals;
}
