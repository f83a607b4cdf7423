import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BackupDirectory } from '../../mail/backup/directory-target.ts';
import { Repository } from '../../mail/backup/repository.ts';
import { findSnapshot, restoreSnapshot } from '../../mail/backup/restore-snapshot.ts';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { BackupWorld, contentOf } from '../support/backup-world.ts';
import { startBox } from '../support/box.ts';
import { type DiskRecord, type Left, LoggedDisk } from '../support/disk-log/disk.ts';
import { DiskLog } from '../support/disk-log/logged-process.ts';
import { repetitions, UNDER_LOAD } from '../support/faults.ts';
import { seeded } from '../support/imap-fuzz.ts';
import { readAccount } from '../support/mail-facts.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const CUTS = repetitions(40, 10);
/** Interruptions of a restore; 0: at each call. */
const RESTORE_CUTS = repetitions(0, 20);
const IMPORT_CUTS = repetitions(10, 3);
const SEED = 20_261_125;
const MESSAGES = 150;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'copies-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Runs a command, recorded where a log is given. */
async function run(dataDir: string, words: readonly string[], log?: DiskLog): Promise<void> {
  const env = { ...process.env, MAILSTEAD_DATA_DIR: dataDir, MAILSTEAD_BACKUP_RATE: '0', ...log?.env };
  await promisify(execFile)(COMMAND, words, { env });
}

/** Cuts power, or kills, at `count` moments and at the end, or at all (0); calls back with what is left of the root then. */
async function cutAt(
  { records, count, disk = new LoggedDisk() }: { records: readonly DiskRecord[]; count: number; disk?: LoggedDisk },
  check: (path: string, at: number) => Promise<void>,
): Promise<void> {
  const random = seeded(SEED);
  const all = count === 0 || count >= records.length;
  const moments = all ? [...records.keys()] : Array.from({ length: count }, () => random(records.length));
  if (!all) moments.push(records.length - 1);
  let next = 0;
  for (const [cut, moment] of moments.toSorted((a, b) => a - b).entries()) {
    for (; next <= moment; next++) disk.apply(records[next]!);
    const path = mkdtempSync(join(tmpdir(), 'cut-'));
    const ways: readonly Left[] = ['cut', 'killed', { torn: () => random(2) === 0 }];
    disk.writeTo(path, ways[cut % 3]!);
    await check(path, records[moment]!.end);
    rmSync(path, { recursive: true });
  }
}

test(`${CUTS} power cuts of the disk with the backups: a snapshot that is listed restores whole, and one that was reported is listed`, async () => {
  await using world = await BackupWorld.create(20, 3);
  using log = new DiskLog(directory);
  const target = join(directory, 'target');
  const reported: { end: number; snapshots: number; content: Record<string, string> }[] = [];
  for (let n = 1; n <= 3; n++) {
    await run(world.dataDir, ['backup', target, '--json'], log);
    reported.push({ end: log.size, snapshots: n, content: contentOf(world.dataDir) });
    await world.add(10, 1);
  }
  let restored = 0;
  await cutAt({ records: log.records(), count: CUTS }, async (path, at) => {
    const least = reported.filter(({ end }) => end <= at).length;
    const repository = await Repository.open(new BackupDirectory(join(path, 'target')), {}).catch(() => undefined);
    const ids = (await repository?.snapshotIds()) ?? [];
    expect(ids.length).toBeGreaterThanOrEqual(least);
    if (repository === undefined) return;
    for (const [n, id] of ids.toSorted().entries()) {
      const copy = join(path, `copy-${n}`);
      await restoreSnapshot(repository, await findSnapshot(repository, id), copy);
      expect(contentOf(copy)).toEqual(reported[n]?.content);
      restored++;
    }
  });
  console.log(`${CUTS} cuts, ${restored} snapshots restored after them`);
});

test('a restore that is killed or loses power at any call: its directory is whole or not there, and it can be repeated', async () => {
  await using world = await BackupWorld.create(20, 3);
  const target = join(world.directory, 'target');
  await run(world.dataDir, ['backup', target, '--json']);
  const repository = await Repository.open(new BackupDirectory(target), {});
  const snapshot = await findSnapshot(repository);
  using log = new DiskLog(directory);
  await run(world.dataDir, ['restore', target, '--data-dir', join(directory, 'new'), '--json'], log);
  const end = log.size;
  const counts = { there: 0, repeated: 0 };
  await cutAt({ records: log.records(), count: RESTORE_CUTS }, async (path, at) => {
    const restored = join(path, 'new');
    if (at >= end) expect(existsSync(restored)).toBe(true);
    counts[existsSync(restored) ? 'there' : 'repeated']++;
    if (!existsSync(restored)) await restoreSnapshot(repository, snapshot, restored);
    const found = await checkStore(restored);
    expect(isSound(found)).toBe(true);
    expect(found.messages).toBe(23);
  });
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  console.log(`restore: ${counts.there} times whole, ${counts.repeated} times not there`);
});

test(`${IMPORT_CUTS} power cuts of an import: it is finished afterwards, with nothing missing and nothing doubled`, async () => {
  const source = join(directory, 'source');
  mkdirSync(source);
  for (let n = 0; n < MESSAGES; n++) {
    const head = `From: a@far.example\r\nSubject: ${n}\r\nMessage-ID: <${n}@import.test>`;
    writeFileSync(join(source, `${n}.eml`), `${head}\r\n\r\n${`line of ${n}\r\n`.repeat(n % 50 === 0 ? 7000 : 20)}`);
  }
  const root = join(directory, 'disk');
  mkdirSync(root);
  using log = new DiskLog(root);
  const words = ['import', source, '--mailbox', 'me@box.test', '--folder', 'Moved', '--json'];
  let records: DiskRecord[];
  let began: number;
  {
    await using box = await startBox({ dataDir: join(root, 'data'), settings: UNDER_LOAD, wrapper: log.wrapper });
    began = log.size;
    await run(box.dataDir, words);
    await box.kill();
    records = log.records();
  }
  const disk = new LoggedDisk();
  const first = records.findIndex(({ end }) => end > began);
  for (const record of records.slice(0, first)) disk.apply(record);
  await cutAt({ records: records.slice(first), count: IMPORT_CUTS, disk }, async (path) => {
    await using box = await startBox({ dataDir: join(path, 'data'), settings: UNDER_LOAD });
    await run(box.dataDir, words);
    const { messages } = Object.entries(await readAccount(box.port('imap'))).find(([name]) =>
      name.includes('Moved'),
    )![1];
    const hashes = Object.values(messages).map(({ sha256 }) => sha256);
    expect(hashes).toHaveLength(MESSAGES);
    expect(new Set(hashes).size).toBe(MESSAGES);
  });
});
