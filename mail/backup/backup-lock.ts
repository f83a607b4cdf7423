import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SQLITE, sqliteCode } from '../store/engine/connection.ts';
import { BackupProblem } from './backup-error.ts';

/** Locks the data directory against a second backup. The system releases the lock when the process ends. */
export function lockForBackup(dataDir: string): Disposable {
  const path = join(dataDir, 'backup-lock.db');
  const db = openLock(path);
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (sqliteCode(error) !== SQLITE.BUSY) throw new BackupProblem(`${path} cannot be locked.`, { cause: error });
    throw new BackupProblem(`Another backup of ${dataDir} runs. Wait for its end.`, { cause: error });
  }
  return { [Symbol.dispose]: () => db.close() };
}

function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw new BackupProblem(`${path} cannot be opened. Check --data-dir and the user that runs this command.`, {
      cause: error,
    });
  }
}
