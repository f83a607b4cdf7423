import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Row, Value } from '../store/engine/types.ts';
import { BackupProblem } from './backup-error.ts';
import { walFrames } from './wal-frames.ts';
import { readWalIndex, sameIndex, type WalIndexState } from './wal-index.ts';

const ATTEMPTS = 2_000;

/** Descriptors of the files of the database. */
interface DatabaseFiles {
  database: number;
  log: number;
  index: number;
}

/**
 * One state of a database in WAL mode that another process may write meanwhile: its pages as octets, and queries. A read
 * transaction keeps checkpoints from overwriting what the state consists of: frames of the log up to its end, else pages
 * of the file. So no page is copied before it is read, and the writer never waits.
 *
 * Opens the files of the database itself, so no other connection of this process may use that database: the first
 * close() of a file would drop its locks.
 */
export class DatabaseSnapshot implements Disposable {
  readonly pageSize: number;
  readonly pages: number;
  readonly #db: DatabaseSync;
  readonly #files: DatabaseFiles;
  readonly #frames: ReadonlyMap<number, number>;

  private constructor(db: DatabaseSync, files: DatabaseFiles, state: WalIndexState) {
    this.#db = db;
    this.#files = files;
    this.pageSize = numberOf(db, 'PRAGMA page_size');
    this.pages = numberOf(db, 'PRAGMA page_count');
    // All frames are in the file already, and the log may be started anew while the file cannot be changed.
    const inFile = state.backfilled === state.frames;
    this.#frames = inFile ? new Map() : walFrames(files.log, this.pageSize, state);
  }

  static async open(path: string): Promise<DatabaseSnapshot> {
    if (!existsSync(path)) {
      throw new BackupProblem(
        `There is no database ${path}. Set MAILSTEAD_DATA_DIR or --data-dir to the data directory.`,
      );
    }
    const db = new DatabaseSync(path, { timeout: 5_000 });
    // Creates the log and its index, if the server does not run.
    db.exec('PRAGMA query_only = 1; BEGIN; SELECT count(*) FROM sqlite_schema; ROLLBACK');
    const files = {
      database: openSync(path, 'r'),
      log: openSync(`${path}-wal`, 'r'),
      index: openSync(`${path}-shm`, 'r'),
    };
    return new DatabaseSnapshot(db, files, await begin(db, files.index));
  }

  /** Rows of this state. */
  all<T extends Row>(sql: string, ...params: Value[]): T[] {
    return this.#db.prepare(sql).all(...params) as T[];
  }

  /** Reads a page, counted from 0. `into` has the size of a page. */
  read(page: number, into: Buffer): void {
    const frame = this.#frames.get(page);
    const [file, at] = frame === undefined ? [this.#files.database, page * this.pageSize] : [this.#files.log, frame];
    for (let got = 0; got < this.pageSize;) {
      const more = readSync(file, into, got, this.pageSize - got, at + got);
      if (more === 0) {
        throw new BackupProblem(
          `The database ends before page ${page + 1}. Run mailstead fsck, then restore a backup.`,
        );
      }
      got += more;
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
    for (const file of Object.values(this.#files)) closeSync(file);
  }
}

/** Begins a read transaction whose state is known: the same before and after its begin. */
async function begin(db: DatabaseSync, index: number): Promise<WalIndexState> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = readWalIndex(index);
    db.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    const after = readWalIndex(index);
    if (before !== undefined && after !== undefined && sameIndex(before, after)) return after;
    db.exec('ROLLBACK');
    await delay(1);
  }
  throw new BackupProblem('The database changes too fast for a snapshot. Run the backup again.');
}

function numberOf(db: DatabaseSync, pragma: string): number {
  return Number(Object.values(db.prepare(pragma).get() ?? {})[0]);
}
