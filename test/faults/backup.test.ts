import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BackupDirectory } from '../../mail/backup/directory-target.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { type Box, startBox } from '../support/box.ts';
import { SmallDisk } from '../support/disk.ts';
import { repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { Ledger, load, numberedMany } from '../support/load.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const BACKUPS = repetitions(200, 24);
const SEED = 20_261_123;

interface BackupEnd {
  code: number | null;
  output: string;
  errors: string;
}

function startBackup(box: Box, target: string): { child: ChildProcess; end: Promise<BackupEnd> } {
  const child = spawn(COMMAND, ['backup', target, '--json'], { env: { ...box.env, MAILSTEAD_BACKUP_RATE: '0' } });
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

test(`${BACKUPS} backups under load, with kills of the server and of the backup: each good one has all that was acknowledged before`, async () => {
  await using box = await startBox({ settings: UNDER_LOAD });
  const target = mkdtempSync(join(tmpdir(), 'backup-target-'));
  const scratch = mkdtempSync(join(tmpdir(), 'backup-scratch-'));
  try {
    const random = seeded(SEED);
    const ledger = new Ledger();
    const counts = { good: 0, killed: 0, kills: 0 };
    for (let n = 0; n < BACKUPS; n++) {
      const queue = numberedMany(`backup${n}`, 60, SEED + n);
      const sending = load({ port: box.port('smtp'), queue, ledger, clients: 4 });
      await delay(random(60));
      const before = new Set(ledger.acknowledged.keys());
      const { child, end } = startBackup(box, target);
      const fate = n % 4;
      if (fate === 1) void delay(100 + random(500)).then(() => child.kill('SIGKILL'));
      if (fate === 2) {
        await delay(150 + random(250));
        counts.kills++;
        await box.kill();
        await sending;
        await box.start();
      }
      const { code, errors } = await end;
      await sending;
      if (code !== 0) {
        expect(fate, errors).toBe(1);
        counts.killed++;
        continue;
      }
      counts.good++;
      const directory = join(scratch, String(n));
      const repository = await Repository.open(new BackupDirectory(target), undefined);
      await restoreSnapshot(repository, await findSnapshot(repository), directory);
      const restored = idsIn(directory);
      expect(
        [...before].filter((id) => !restored.has(id)),
        `backup ${n}: acknowledged before and missing`,
      ).toEqual([]);
      expect(isSound(await checkStore(directory)), `backup ${n}`).toBe(true);
      expectWholeCommits(directory);
      rmSync(directory, { recursive: true });
    }
    expect(counts.good).toBeGreaterThan(BACKUPS / 2);
    console.log(
      `${counts.good} good backups, ${counts.killed} killed, ${counts.kills} kills of the server, seed ${SEED}`,
    );
  } finally {
    rmSync(target, { recursive: true, force: true });
    rmSync(scratch, { recursive: true, force: true });
  }
});

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
  const repository = await Repository.open(new BackupDirectory(target), undefined);
  expect(await repository.snapshotIds()).toHaveLength(1);
  expect((await startBackup(box, target).end).code).toBe(0);
  expect(await repository.snapshotIds()).toHaveLength(2);
});
