import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkStore, isSound } from '../../mail/store/check/check-store.ts';
import { closeWriting, openForWriting } from '../../mail/store/engine/connection.ts';
import { migrate } from '../../mail/store/engine/migrate.ts';
import { copyBeforeUpgrade } from '../../mail/store/engine/upgrade-copy.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import { startBox } from '../support/box.ts';
import { type Left, LoggedDisk } from '../support/disk-log/disk.ts';
import { DiskLog } from '../support/disk-log/logged-process.ts';
import { repetitions, UNDER_LOAD } from '../support/faults.ts';
import { type FolderFacts, readAccount } from '../support/mail-facts.ts';
import { OLD_DIRECTORIES, unpackOldDirectory } from '../support/old-directory.ts';

const MIGRATIONS = [...mailMigrations(), ...applianceMigrations()];
/** Moments at which a migration is interrupted; 0: all. */
const MOMENTS = repetitions(0, 20);

let directory: string;
let dataDir: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'schemas-'));
  dataDir = join(directory, 'data');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Facts without the form of the date, which follows the time zone of the server. */
function comparable(facts: Record<string, FolderFacts>): Record<string, FolderFacts> {
  const whole = Object.entries(facts).map(([folder, { messages, ...rest }]) => {
    const dated = Object.entries(messages).map(([uid, one]) => [uid, { ...one, date: String(Date.parse(one.date)) }]);
    return [folder, { ...rest, messages: Object.fromEntries(dated) as FolderFacts['messages'] }];
  });
  return Object.fromEntries(whole) as Record<string, FolderFacts>;
}

// Two commits of 2026-11-23 numbered a migration of the appliance that was renumbered an hour later (47f37ff4, 2f1e27de), and
// commits before 3eb19dfe had migrations that became one schema. No version was released with either: a start refuses them.
describe('a data directory of an earlier schema', () => {
  test.each(OLD_DIRECTORIES)('%s opens with every folder, UID, flag, date and octet', async (name) => {
    const { expected } = unpackOldDirectory(name, dataDir);
    await using box = await startBox({ dataDir, settings: UNDER_LOAD });
    expect(Object.values(expected).flatMap(({ messages }) => Object.keys(messages))).toHaveLength(30);
    expect(comparable(await readAccount(box.port('imap')))).toMatchObject(comparable(expected));
    await box.stop();
    expect(isSound(await checkStore(dataDir))).toBe(true);
  });
});

/** Migrates as a start does, in this process. */
function migrateDirectory(path: string): void {
  const database = join(path, 'mailstead.db');
  copyBeforeUpgrade(database, MIGRATIONS);
  const connection = openForWriting(database);
  migrate(connection, MIGRATIONS);
  closeWriting(connection);
}

/** All messages of a directory: id, blob size and SHA-256 of what the row has. */
function messagesOf(path: string): unknown[] {
  using db = new DatabaseSync(join(path, 'mailstead.db'));
  return db
    .prepare(
      'SELECT e.id, b.size, b.file, hex(b.data) AS data FROM email e JOIN blob b ON b.id = e.blob_id ORDER BY e.id',
    )
    .all();
}

test('a migration that is killed or loses power at any call is finished by the next start, with all messages', async () => {
  unpackOldDirectory('mail-2', dataDir);
  const base = new LoggedDisk(directory);
  const messages = messagesOf(dataDir);
  using log = new DiskLog(directory);
  await using box = await startBox({ dataDir, settings: UNDER_LOAD, wrapper: log.wrapper });
  await box.kill();
  const records = log.records();
  const every = MOMENTS === 0 ? 1 : Math.ceil(records.length / MOMENTS);
  let moments = 0;
  for (const [n, record] of records.entries()) {
    base.apply(record);
    if (n % every !== 0) continue;
    for (const left of ['killed', 'cut'] satisfies Left[]) {
      const path = join(tmpdir(), `migration-${process.pid}`);
      base.writeTo(path, left);
      migrateDirectory(join(path, 'data'));
      expect(messagesOf(join(path, 'data')), `${left} at call ${n}`).toEqual(messages);
      expect(isSound(await checkStore(join(path, 'data'))), `${left} at call ${n}`).toBe(true);
      rmSync(path, { recursive: true });
      moments++;
    }
  }
  console.log(`${moments} interruptions in ${records.length} calls of a migration of ${messages.length} messages`);
});
