import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { FakeS3, type S3Fault } from '../support/fake-s3.ts';
import { expectIntegrity, expectKept, repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, numbered, type Numbered } from '../support/load.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const KILLS = repetitions(40, 6);
const MESSAGES = 25;
const CLIENTS = 4;
const SEED = 20_261_124;
const FAULTS: readonly S3Fault[] = ['503', 'reset', 'cut', 'late-reset'];

function settingsOf(s3: FakeS3): Record<string, string> {
  const { endpoint, bucket, prefix, accessKey, secretKey } = s3.options;
  return {
    ...UNDER_LOAD,
    BLOBS: `s3://${bucket}/${prefix}`,
    BLOBS_CACHE: '16',
    BLOBS_S3_ENDPOINT: endpoint.href,
    BLOBS_S3_ACCESS_KEY: accessKey,
    BLOBS_S3_SECRET_KEY: secretKey,
  };
}

/** Starts without cached messages, as after a new start of the machine. */
async function coldStart(box: Box): Promise<void> {
  await box.stop();
  writeFileSync(join(box.dataDir, 'blob-cache', 'boot-id'), 'another');
  await box.start();
}

/** Large messages with some small ones between. */
function messages(prefix: string, count: number, seed: number): Numbered[] {
  return Array.from({ length: count }, (_, i) => numbered(`${prefix}-${i}`, i % 4 === 3 ? 800 : 80_000, seed + i));
}

async function readiness(box: Box): Promise<unknown> {
  return (await fetch(`http://127.0.0.1:${box.port('http')}/readyz`)).json();
}

describe('large messages in a bucket', () => {
  test(`${KILLS} kills, with every tenth request to the bucket failing: nothing that was acknowledged is lost`, async () => {
    await using s3 = await FakeS3.start();
    await using box = await startBox({ settings: settingsOf(s3) });
    const random = seeded(SEED);
    s3.trouble = () => (random(10) === 0 ? FAULTS[random(FAULTS.length)] : undefined);
    const ledger = new Ledger();
    const queue: Numbered[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      queue.push(...messages(`kill${kill}`, MESSAGES, SEED + 1_000 * kill));
      const running = load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS });
      await Promise.race([running, delay(random(400))]);
      await box.kill();
      await running;
      await box.start();
    }
    while (queue.length > 0) await load({ port: box.port('smtp'), queue, ledger, clients: CLIENTS });
    expect(ledger.acknowledged.size).toBe(KILLS * MESSAGES);
    expect(ledger.refusals.filter((line) => !/^45[12]/.test(line))).toEqual([]);
    await coldStart(box);
    await expectKept(box, ledger, ledger.unanswered);
    await box.stop();
    expectIntegrity(box.dataDir);
    console.log(
      `${KILLS} kills, ${ledger.acknowledged.size} messages, ${ledger.refusals.length} deferred, ${s3.requests} requests, seed ${SEED}`,
    );
  });

  test('a bucket that is down: large mail is deferred, small mail arrives, and the state is reported', async () => {
    await using s3 = await FakeS3.start();
    await using box = await startBox({ settings: settingsOf(s3) });
    const ledger = new Ledger();
    const send = (id: string, octets: number): Promise<void> =>
      load({ port: box.port('smtp'), queue: [numbered(id, octets, 1)], ledger, clients: 1 });
    await send('before', 80_000);
    await coldStart(box);
    s3.down = true;
    await send('large', 80_000);
    expect(ledger.refusals).toEqual([expect.stringMatching(/^451 4\.3\.1 The storage of large messages/)]);
    await send('small', 500);
    expect([...ledger.acknowledged.keys()]).toEqual(['before', 'small']);
    expect(await readiness(box)).toEqual({ ready: true, failing: [], degraded: ['bucket'] });
    const doctor = (await box.ask('run_doctor')) as { checks: { name: string; status: string }[] };
    expect(doctor.checks.find(({ name }) => name === 'bucket')?.status).toBe('failed');
    using reader = await MailboxReader.open(box.port('imap'));
    await reader.command('SELECT INBOX');
    expect((await reader.command('FETCH 1 BODY.PEEK[]')).toString()).toMatch(/\d+ NO \[UNAVAILABLE\]/);
    s3.down = false;
    expect((await reader.command('FETCH 1 BODY.PEEK[]')).length).toBeGreaterThan(80_000);
    await send('after', 80_000);
    await expectKept(box, ledger, 0);
    expect(await readiness(box)).toMatchObject({ degraded: [] });
  });

  test('are searched by the threads of the store, from an empty cache', async () => {
    await using s3 = await FakeS3.start();
    await using box = await startBox({ settings: settingsOf(s3) });
    const ledger = new Ledger();
    await load({ port: box.port('smtp'), queue: messages('search', 8, 5), ledger, clients: 1 });
    await box.stop();
    writeFileSync(join(box.dataDir, 'blob-cache', 'boot-id'), 'another');
    // The full-text index is built anew, from the bucket.
    rmSync(join(box.dataDir, 'mailstead-text.db'), { force: true });
    await box.start();
    using reader = await MailboxReader.open(box.port('imap'));
    await reader.command('SELECT INBOX');
    const header = (await reader.command('SEARCH HEADER X-Body a')).toString();
    expect(header).toMatch(/^\* SEARCH( \d)+\r\n/);
    const search = async (): Promise<string> => (await reader.command('SEARCH TEXT search-2')).toString();
    await expect.poll(search).toMatch(/^\* SEARCH 3\r\n/);
  });

  test('do not start without the setting, nor in the prefix of another directory', async () => {
    await using s3 = await FakeS3.start();
    await using box = await startBox({ settings: settingsOf(s3) });
    await box.stop();
    await expect(startBox({ dataDir: box.dataDir })).rejects.toThrow(/MAILSTEAD_BLOBS is not set/);
    await expect(startBox({ settings: settingsOf(s3) })).rejects.toThrow(/belongs to another data directory/);
  });
});
