import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BackupDirectory } from '../../mail/backup/directory-target.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { verifyBackup } from '../../mail/backup/verify-backup.ts';
import { createBackup } from '../../mail/backup/create-backup.ts';
import { quiet } from '../../mail/log.ts';
import { RetentionJob } from '../../mail/jobs/retention.ts';
import { ScrubJob } from '../../mail/jobs/scrub.ts';
import { messageRows } from '../../mail/store/blob/content.ts';
import { BlobUnreadable } from '../../mail/store/blob/unreadable.ts';
import { MessageBucket } from '../../mail/store/bucket/message-bucket.ts';
import { BucketMismatch, RemoteFiles } from '../../mail/store/bucket/remote-files.ts';
import { S3Client } from '../../mail/store/bucket/s3-client.ts';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { setSetting } from '../../mail/store/setting.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { flipped } from '../support/flipped.ts';
import { putMail } from '../support/put-mail.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';
import { onPostgres } from '../support/test-database.ts';

const KEY = Buffer.alloc(32, 7);
const LARGE = 'x'.repeat(99).concat('\r\n').repeat(1_000);

let world: TestStore;
let s3: FakeS3;
let account: number;
let remote: RemoteFiles;
beforeEach(async () => {
  s3 = await FakeS3.start();
  world = await testStore('writer thread');
  account = (await testAccount(world.store)).account;
  remote = await attach();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

const bucket = (key = KEY): MessageBucket => new MessageBucket(new S3Client({ ...s3.options, attempts: 2 }), key);

async function attach(cacheLimit = 1e9): Promise<RemoteFiles> {
  const files = await RemoteFiles.open({
    bucket: bucket(),
    dataDir: world.dataDir,
    cacheLimit,
    log: quiet,
    meter: quiet,
  });
  world.store.files.attach(files);
  return files;
}

const objects = (): string[] => [...s3.objects.keys()].filter((name) => name.includes('/messages/'));
const put = (subject: string, body = LARGE): Promise<string> =>
  putMail(world.store, { account, receivedAt: 1_000 }, `Subject: ${subject}\n\n${body}`);

/** Empties the cache, as a new start of the machine does. */
async function coldStart(cacheLimit?: number): Promise<void> {
  writeFileSync(join(world.dataDir, 'blob-cache', 'boot-id'), 'another');
  await world.reopen();
  remote = await attach(cacheLimit);
  expect(remote.state.cachedOctets).toBe(0);
}

async function read(uid: number): Promise<string> {
  const mailbox = (await world.store.read(findMailbox, { account, name: 'INBOX' }))?.id ?? 0;
  const [row] = await world.store.read(messageRows, { account, mailbox, uids: [uid], structure: false });
  return (await world.store.blob(row?.content.blob ?? 0, 0, row?.content.length ?? 0)).toString();
}

function cachedFiles(): string[] {
  const all = readdirSync(join(world.dataDir, 'blob-cache'), { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /\/[0-9a-f]{32}$/.test(name));
}

describe('a large message in a bucket', () => {
  test('is stored before its row, encrypted, and not in the directory of files', async () => {
    await put('secret words');
    await put('small', 'small\r\n');
    expect(objects()).toHaveLength(1);
    const [octets = Buffer.alloc(0)] = objects().map((name) => s3.objects.get(name));
    expect(octets.includes('secret words') || octets.includes('xxxxxxxx')).toBe(false);
    const files = readdirSync(join(world.dataDir, 'blobs'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => name.length > 10)).toEqual([]);
    expect(await read(1)).toBe(`Subject: secret words\r\n\r\n${LARGE}`);
  });

  test('is fetched into an empty cache once, also for many readers', async () => {
    await put('one');
    await coldStart();
    const before = s3.requests;
    const all = await Promise.all(Array.from({ length: 20 }, () => read(1)));
    expect(new Set(all)).toEqual(new Set([`Subject: one\r\n\r\n${LARGE}`]));
    expect(s3.requests - before).toBe(1);
    await read(1);
    expect(s3.requests - before).toBe(1);
  });

  test.each(['503', 'reset', 'cut', 'late-reset'] as const)('comes through one "%s"', async (kind) => {
    s3.fault = { request: s3.requests + 1, kind };
    await put('one');
    await coldStart();
    s3.fault = { request: s3.requests + 1, kind };
    expect(await read(1)).toContain('Subject: one');
  });

  test('is refused as busy while the bucket is down, and small mail is stored', async () => {
    s3.down = true;
    await expect(put('large')).rejects.toThrow(StoreBusy);
    expect(remote.state.problem).toContain('HTTP 503');
    await put('small', 'small\r\n');
    s3.down = false;
    await put('later');
    expect(remote.state.problem).toBeUndefined();
    expect(await read(2)).toContain('Subject: later');
  });

  test('is unavailable, not damaged, while the bucket is down', async () => {
    await put('one');
    await coldStart();
    s3.down = true;
    await expect(read(1)).rejects.toThrow(StoreBusy);
    expect(world.store.unreadable).toBe(0);
    s3.down = false;
    expect(await read(1)).toContain('Subject: one');
  });

  test.each([
    ['changed', (octets: Buffer) => flipped(octets, 8 * 500)],
    ['cut off', (octets: Buffer) => octets.subarray(0, 10_000)],
    ['cut off in its head', (octets: Buffer) => octets.subarray(0, 9)],
  ])('that was %s in the bucket is damaged, and its octets are not used', async (_, damage) => {
    await put('one');
    await coldStart();
    const [name = ''] = objects();
    s3.objects.set(name, damage(Buffer.from(s3.objects.get(name) ?? [])));
    await expect(read(1)).rejects.toThrow(BlobUnreadable);
    expect(cachedFiles()).toEqual([]);
  });

  test('that the bucket has no longer is damaged', async () => {
    await put('one');
    await coldStart();
    s3.objects.clear();
    await expect(read(1)).rejects.toThrow(BlobUnreadable);
  });

  test('does not open with the object of another', async () => {
    await put('one');
    await put('two');
    await coldStart();
    const [first = '', second = ''] = objects();
    const moved = s3.objects.get(first) ?? Buffer.alloc(0);
    s3.objects.set(second, moved);
    const results = await Promise.allSettled([read(1), read(2)]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('stays in files from before the bucket', async () => {
    await using old = await testStore();
    const owner = (await testAccount(old.store)).account;
    await putMail(old.store, { account: owner, receivedAt: 1 }, `Subject: old\n\n${LARGE}`);
    await using more = await FakeS3.start();
    const target = new MessageBucket(new S3Client(more.options), KEY);
    const options = { bucket: target, dataDir: old.dataDir, cacheLimit: 1e9, log: quiet, meter: quiet };
    old.store.files.attach(await RemoteFiles.open(options));
    const mailbox = (await old.store.read(findMailbox, { account: owner, name: 'INBOX' }))?.id ?? 0;
    const [row] = await old.store.read(messageRows, { account: owner, mailbox, uids: [1], structure: false });
    expect((await old.store.blob(row?.content.blob ?? 0, 0, 12)).toString()).toBe('Subject: old');
    expect([...more.objects.keys()]).toEqual(['box one/owner']);
  });
});

describe('the cache', () => {
  test('is emptied after a new start of the machine, and kept over one of the server', async () => {
    await put('one');
    expect(cachedFiles()).toHaveLength(1);
    await world.reopen();
    await attach();
    expect(cachedFiles()).toHaveLength(1);
    const before = s3.requests;
    await read(1);
    expect(s3.requests).toBe(before);
    await coldStart();
    expect(cachedFiles()).toEqual([]);
  });

  test('keeps to its limit, except for what was used a moment ago', async () => {
    for (let n = 0; n < 5; n++) await put(`message ${n}`);
    await world.reopen();
    remote = await attach(150_000);
    // Files of before this start are old. The one that is put now stays.
    await put('newest');
    expect(cachedFiles()).toHaveLength(1);
    expect(remote.state.cachedOctets).toBeLessThanOrEqual(150_000);
    for (let uid = 1; uid <= 6; uid++) expect(await read(uid)).toContain('Subject:');
  });
});

describe('removal', () => {
  test('of an abandoned message removes its object', async () => {
    const writer = world.store.files.create();
    await writer.write(Buffer.from(LARGE));
    await writer.finish();
    expect(objects()).toHaveLength(1);
    writer.abort();
    await expect.poll(() => [objects(), cachedFiles()]).toEqual([[], []]);
  });

  test('by the sweep: orphaned objects go, stored messages and uploads under way stay', async () => {
    await put('stored');
    const [kept = ''] = objects();
    const writer = world.store.files.create();
    await writer.write(Buffer.from(LARGE));
    await writer.finish();
    const [, underWay = ''] = objects();
    const orphan = kept.replace(/[0-9a-f]{2}\/[0-9a-f]{32}$/, `aa/${'aa'.repeat(16)}`);
    s3.objects.set(orphan, Buffer.from('x'));
    const removed = (at: Date): Promise<number> => {
      for (const name of [kept, underWay, orphan]) s3.uploaded.set(name, at);
      const named = async (files: string[]): Promise<Set<string>> =>
        new Set(files.filter((file) => kept.endsWith(file)));
      return world.store.files.sweep(named, Date.now() - 1_000);
    };
    expect(await removed(new Date())).toBe(0);
    expect(await removed(new Date(0))).toBe(1);
    expect(objects().toSorted()).toEqual([kept, underWay].toSorted());
  });

  test('by the job of the server keeps every message with a row', async () => {
    for (let n = 0; n < 20; n++) await put(`message ${n}`);
    for (const name of objects()) s3.uploaded.set(name, new Date(0));
    await new RetentionJob(world.store, () => Date.now(), quiet).run();
    expect(objects()).toHaveLength(20);
  });

  test('waits for the bucket, and mail is not held up', async () => {
    await put('one');
    const [name = ''] = objects();
    s3.down = true;
    await world.store.files.remove(name.slice(-32));
    expect(objects()).toEqual([name]);
    s3.down = false;
    s3.uploaded.set(name, new Date(0));
    expect(await world.store.files.sweep(() => Promise.resolve(new Set<string>()), Date.now())).toBe(1);
  });
});

describe('a prefix', () => {
  const openIn = (dataDir: string, target = bucket()): Promise<RemoteFiles> =>
    RemoteFiles.open({ bucket: target, dataDir, cacheLimit: 1e9, log: quiet, meter: quiet });

  test('belongs to one data directory', async () => {
    const other = mkdtempSync(join(tmpdir(), 'bucket-'));
    await expect(openIn(other)).rejects.toThrow(/belongs to another data directory/);
    expect(existsSync(join(other, 'bucket.json'))).toBe(false);
    rmSync(other, { recursive: true });
  });

  test('of another name is refused for a directory with messages in the first', async () => {
    const target = new MessageBucket(new S3Client({ ...s3.options, prefix: 'box two' }), KEY);
    await expect(openIn(world.dataDir, target)).rejects.toThrow(BucketMismatch);
  });

  test('that does not answer at the start is checked before the first upload', async () => {
    const other = mkdtempSync(join(tmpdir(), 'bucket-'));
    s3.down = true;
    const files = await openIn(other);
    s3.down = false;
    await expect(files.upload('ab'.repeat(16), 1)).rejects.toThrow(/belongs to another data directory/);
    rmSync(other, { recursive: true });
  });
});

describe('checks and backups', () => {
  // Only the embedded database has these programs.
  test.skipIf(onPostgres)('fsck reads messages of the bucket, and names what is damaged there', async () => {
    await put('one');
    await put('two');
    await coldStart();
    const check = await checkStore(world.dataDir, bucket());
    expect(check).toMatchObject({ checked: 2, damaged: 0 });
    const [first = '', second = ''] = objects();
    s3.objects.delete(first);
    s3.objects.set(second, flipped(s3.objects.get(second)!, 8 * 700));
    const found = await checkStore(world.dataDir, bucket());
    expect(found.damagedMessages.map(({ problem }) => problem).toSorted()).toEqual(['missing', 'unreadable']);
  });

  test('the scrub compares sizes, reads nothing, and waits for a bucket that is down', async () => {
    for (const subject of ['one', 'two', 'three']) await put(subject);
    await coldStart();
    s3.down = true;
    const job = new ScrubJob(world.store, () => world.clock.now, quiet);
    await job.run();
    expect(world.store.unreadable).toBe(0);
    s3.down = false;
    const [gone = '', short = ''] = objects();
    s3.objects.delete(gone);
    s3.objects.set(short, (s3.objects.get(short) ?? Buffer.alloc(0)).subarray(1));
    await job.run();
    expect(world.store.unreadable).toBe(2);
    expect(cachedFiles()).toEqual([]);
  });

  // Only the embedded database has these programs.
  test.skipIf(onPostgres)('a backup has the messages of the bucket, and restores to files', async () => {
    await world.store.write(setSetting, { name: 'key-check', value: Uint8Array.of(1) });
    await put('one');
    await put('two');
    await coldStart();
    const target = new BackupDirectory(join(world.dataDir, 'target'));
    const options = { keyFile: '', target, keys: {}, rate: 0, version: 'test', clock: Date.now };
    await world.store[Symbol.asyncDispose]();
    const report = await createBackup({ ...options, dataDir: world.dataDir, bucket: bucket() });
    expect(report.damaged).toEqual([]);
    const repository = await Repository.open(target, {});
    const scratch = mkdtempSync(join(tmpdir(), 'scratch-'));
    const verified = await verifyBackup(repository, await findSnapshot(repository), scratch);
    expect(verified).toMatchObject({ ok: true, check: { checked: 2 } });
    rmSync(scratch, { recursive: true });
    const before = s3.requests;
    await createBackup({ ...options, dataDir: world.dataDir, bucket: bucket() });
    expect(s3.requests).toBe(before);
    expect(isSound(await checkStore(world.dataDir, bucket()))).toBe(true);
    expect(readFileSync(join(world.dataDir, 'bucket.json'), 'utf8')).toContain('s3://mail-backups/box one');
    rmSync(world.dataDir, { recursive: true });
    world = await testStore();
  });
});
