import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SQLITE, sqliteCode } from './connection.ts';

/**
 * Locks the data directory against a second process. The lock is an exclusive transaction on its own database, which
 * the OS releases when the process is killed; the main database's files are unsuitable, since any close() by `fs` would
 * drop their locks.
 */
export function lockDataDir(dataDir: string): Disposable {
  const path = join(dataDir, 'lock.db');
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (sqliteCode(error) !== SQLITE.BUSY) throw new Error(`${path} cannot be locked`, { cause: error });
    throw new Error(
      `Another Mailstead process uses ${dataDir}: stop it first, or set MAILSTEAD_DATA_DIR to another directory`,
      {
        cause: error,
      },
    );
  }
  return { [Symbol.dispose]: () => db.close() };
}
