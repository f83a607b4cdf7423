import { DatabaseSync } from 'node:sqlite';
import { renewalOf } from '../store/account/renewed-numbers.ts';

/** Begins a new numbering in a restored database, which is not in use. `now` in ms UTC. */
export function renewIds(path: string, now: number): void {
  const db = new DatabaseSync(path);
  try {
    // No log beside a file that is about to be renamed.
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
    for (const [sql, params] of renewalOf(now)) db.prepare(sql).run(...params);
    db.exec('COMMIT');
  } finally {
    db.close();
  }
}
