import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SQLITE, sqliteCode } from './connection.ts';

/**
 * Keeps a second process out of the data directory. The lock is an exclusive transaction on a database of its own:
 * free at once after a kill, and never the main database's files, whose locks any close() by `fs` would drop.
 */
export function lockDataDir(dataDir: string): Disposable {
  const path = join(dataDir, 'lock.db');
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    db.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (sqliteCode(error) !== SQLITE.BUSY) throw new Error(`${path} cannot be used as a lock`, { cause: error });
    throw new Error(`Another Mailstead is running on ${dataDir}: stop it first, or set MAILSTEAD_DATA_DIR`, {
      cause: error,
    });
  }
  return { [Symbol.dispose]: () => db.close() };
}
