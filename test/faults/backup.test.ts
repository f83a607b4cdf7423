import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { BackupTarget } from '../../mail/backup/backup-target.ts';
import { BackupDirectory } from '../../mail/backup/directory-target.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { S3Target } from '../../mail/backup/s3-target.ts';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { type Box, startBox } from '../support/box.ts';
import { SmallDisk } from '../support/disk.ts';
import { FakeS3, S3_FAULTS, type S3Fault } from '../support/fake-s3.ts';
import { repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, numberedMany, sha256 } from '../support/load.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const BACKUPS = repetitions(200, 24);
const SEED = 20_261_123;
const PASSPHRASE = 'only-for-this-test-4711';
const RECIPIENTS = ['me@box.test', 'second@box.test'];

interface BackupEnd {
  code: number | null;
  output: string;
  errors: string;
}

function startBackup(
  box: Box,
  target: string,
  { passphrase, env }: { passphrase?: string; env?: NodeJS.ProcessEnv } = {},
): { child: ChildProcess; end: Promise<BackupEnd> } {
  const child = spawn(COMMAND, ['backup', target, '--json'], {
    env: { ...box.env, ...env, MAILSTEAD_BACKUP_RATE: '0', MAILSTEAD_BACKUP_PASSPHRASE: passphrase },
  });
  const end: BackupEnd = { code: null, output: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => (end.output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (end.errors += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ ...end, code: code as number | null }));
  return { child, end: ended };
}

/** Ids of the messages in a restored directory, from their Message-ID fields. */
function idsIn(dataDir: string): Set<string> {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'));
  const rows = db.prepare('SELECT m.envelope FROM email e JOIN email_meta m ON m.email_id = e.id').all();
  return new Set(rows.map(({ envelope }) => /<([^@<>]+)@load\.test>/.exec(String(envelope))?.[1] ?? ''));
}

/** UIDs of a mailbox begin with 1 and have no gap, and no mod-sequence is above that of its account. */
function expectWholeCommits(dataDir: string): void {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'));
  const wrong = db.prepare(
    `SELECT b.id FROM mailbox b JOIN account a ON a.id = b.account_id WHERE b.total <> b.uidnext - 1 OR b.highestmodseq > a.modseq
     OR EXISTS (SELECT 1 FROM entry n WHERE n.mailbox_id = b.id AND n.modseq > b.highestmodseq)`,
  );
  expect(wrong.all()).toEqual([]);
}

/** Place, UID, mod-sequence, flags, time and content of each message of the blobs up to this one, and their number. */
function stateUpTo(dataDir: string, blob: number): { messages: number; state: string } {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'), { readOnly: true });
  const rows = db
    .prepare(
      `SELECT m.account_id, m.name, m.uidvalidity, n.uid, n.modseq, n.flags, n.received_at, n.email_id, b.id, b.size,
       b.file, hex(b.sha256) FROM entry n JOIN mailbox m ON m.id = n.mailbox_id JOIN email e ON e.id = n.email_id
       JOIN blob b ON b.id = e.blob_id WHERE b.id <= ? ORDER BY n.mailbox_id, n.uid`,
    )
    .all(blob);
  return { messages: rows.length, state: sha256(JSON.stringify(rows)) };
}

function newestBlob(dataDir: string): number {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'), { readOnly: true });
  return Number(db.prepare('SELECT ifnull(max(id), 0) AS id FROM blob').get()?.['id']);
}

/**
 * Asserts that a restored directory is a moment of the server: every message that was committed up to its newest blob, of all
 * mailboxes, and no other. Blobs are numbered in the order of commits, and none is deleted here.
 */
function expectMomentOf(live: string, restored: string): void {
  expectWholeCommits(restored);
  const newest = newestBlob(restored);
  expect(stateUpTo(restored, Number.MAX_SAFE_INTEGER)).toEqual(stateUpTo(live, newest));
  expect(readFileSync(join(restored, 'secret.key'))).toEqual(readFileSync(join(live, 'secret.key')));
}

/** Faults in turn. */
const FATES = ['undisturbed', 'backup killed', 'server killed', 'bucket in trouble', 'disk too small'] as const;
type BackupFate = (typeof FATES)[number];
/** A backup that was not disturbed, or whose server was killed, has to succeed. */
const MUST_SUCCEED: readonly BackupFate[] = ['undisturbed', 'server killed'];

/** The target of one backup: for the command, and for the test. */
interface FaultTarget {
  name: string;
  env: NodeJS.ProcessEnv;
  open(): BackupTarget;
}

const inDirectory = (path: string): FaultTarget => ({ name: path, env: {}, open: () => new BackupDirectory(path) });

function inBucket(s3: FakeS3): FaultTarget {
  const { endpoint, bucket, accessKey, secretKey, region } = s3.options;
  const env = {
    MAILSTEAD_BACKUP_S3_ENDPOINT: endpoint.href,
    MAILSTEAD_BACKUP_S3_REGION: region,
    MAILSTEAD_BACKUP_S3_ACCESS_KEY: accessKey,
    MAILSTEAD_BACKUP_S3_SECRET_KEY: secretKey,
  };
  return { name: `s3://${bucket}/faults`, env, open: () => new S3Target({ ...s3.options, prefix: 'faults' }) };
}

/** Faults of each eighth request; `ends`: after some requests the bucket answers none. */
function troubleOf(s3: FakeS3, random: (below: number) => number, ends: boolean): () => S3Fault | undefined {
  const last = ends ? s3.requests + random(40) : Infinity;
  return () => {
    if (s3.requests > last) return '503';
    return random(8) === 0 ? S3_FAULTS[random(S3_FAULTS.length)] : undefined;
  };
}

/** A disk with room for a part of a backup. `full`: surely too little. */
function diskFor(box: Box, random: (below: number) => number, full: boolean): SmallDisk {
  const octets = statSync(join(box.dataDir, 'mailstead.db')).size;
  const disk = new SmallDisk('tmpfs', 1 + Math.ceil(octets / 2 ** 20));
  disk.fill(1 + random(full ? 50_000 : octets));
  return disk;
}

/** Restores the newest snapshot and asserts that it is a moment of the server with all that was acknowledged before. */
async function expectRestores(box: Box, target: FaultTarget, directory: string, before: ReadonlySet<string>) {
  const repository = await Repository.open(target.open(), { passphrase: PASSPHRASE });
  await restoreSnapshot(repository, await findSnapshot(repository), directory);
  const restored = idsIn(directory);
  expect(
    [...before].filter((id) => !restored.has(id)),
    'acknowledged before and missing',
  ).toEqual([]);
  expect(isSound(await checkStore(directory))).toBe(true);
  expectMomentOf(box.dataDir, directory);
  rmSync(directory, { recursive: true });
}

test(`${BACKUPS} backups under load, with kills of the server and of the backup, a bucket in trouble and disks without room: each good one restores to one moment, with all that was acknowledged before it`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  await box.ask('add_mailbox', { address: RECIPIENTS[1] });
  await using s3 = await FakeS3.start();
  const path = mkdtempSync(join(tmpdir(), 'backup-target-'));
  const scratch = mkdtempSync(join(tmpdir(), 'backup-scratch-'));
  try {
    const random = seeded(SEED);
    const ledger = new Ledger();
    const counts = {
      good: 0,
      failed: Object.fromEntries(FATES.map((fate) => [fate, 0])) as Record<BackupFate, number>,
    };
    for (let n = 0; n < BACKUPS; n++) {
      const fate = FATES[n % FATES.length] ?? 'undisturbed';
      const queue = numberedMany(`backup${n}`, 60, SEED + n);
      const sending = Promise.all(
        RECIPIENTS.map((to) => load({ port: box.port('smtp'), queue, ledger, clients: 2, to })),
      );
      await delay(random(60));
      const before = new Set(ledger.acknowledged.keys());
      using disk = fate === 'disk too small' ? diskFor(box, random, n % (2 * FATES.length) < FATES.length) : undefined;
      const isBucket = fate === 'bucket in trouble';
      const target = isBucket ? inBucket(s3) : inDirectory(disk === undefined ? path : join(disk.path, 'backups'));
      if (isBucket) s3.trouble = troubleOf(s3, random, n % (2 * FATES.length) < FATES.length);
      const { child, end } = startBackup(box, target.name, { passphrase: PASSPHRASE, env: target.env });
      if (fate === 'backup killed') void delay(100 + random(500)).then(() => child.kill('SIGKILL'));
      if (fate === 'server killed') {
        await delay(150 + random(250));
        await box.kill();
        await sending;
        await box.start();
      }
      const { code, errors } = await end;
      s3.trouble = () => undefined;
      await sending;
      const directory = join(scratch, String(n));
      if (code === 0) {
        counts.good++;
        await expectRestores(box, target, directory, before);
        continue;
      }
      counts.failed[fate]++;
      expect(MUST_SUCCEED, errors).not.toContain(fate);
      const listed = await target.open().list('snapshots/');
      if (fate === 'disk too small') {
        expect(errors).toMatch(/The disk of the target is full/);
        expect(listed).toEqual([]);
      }
      // One that is listed is whole, also if the answer to the last request was lost.
      if (isBucket && listed.length > 0) await expectRestores(box, target, directory, new Set());
    }
    expect(counts.good).toBeGreaterThanOrEqual(Math.floor((BACKUPS * 2) / FATES.length));
    expect(counts.failed['disk too small']).toBeGreaterThan(0);
    console.log(`${counts.good} of ${BACKUPS} backups good, failed: ${JSON.stringify(counts.failed)}, seed ${SEED}`);
  } finally {
    rmSync(path, { recursive: true, force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
}, 3_600_000);

test('a target without space: a sentence, no snapshot, and the next backup works', async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  using disk = new SmallDisk('ext4', 8);
  const target = join(disk.path, 'backups');
  expect((await startBackup(box, target).end).code).toBe(0);
  const ledger = new Ledger();
  await load({ port: box.port('smtp'), queue: numberedMany('full', 400, SEED), ledger, clients: 4 });
  disk.fill(16 * 1024);
  const failed = await startBackup(box, target).end;
  expect(failed.code).toBe(1);
  expect(failed.errors).toMatch(/The disk of the target is full/);
  disk.release();
  const repository = await Repository.open(new BackupDirectory(target), {});
  expect(await repository.snapshotIds()).toHaveLength(1);
  expect((await startBackup(box, target).end).code).toBe(0);
  expect(await repository.snapshotIds()).toHaveLength(2);
});
