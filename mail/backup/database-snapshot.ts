import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Row, Value } from '../store/engine/types.ts';
import { BackupProblem } from './backup-error.ts';
import { walFrames } from './wal-frames.ts';
import { readWalIndex, sameIndex, type WalIndexState } from './wal-index.ts';

const ATTEMPTS = 2_000;

/** Descriptors of the files of a database. */
class DatabaseFiles implements Disposable {
  readonly database: number;
  readonly log: number;
  readonly index: number;

  /** A connection has created the log and its index. */
  constructor(path: string) {
    this.database = openSync(path, 'r');
    this.log = openSync(`${path}-wal`, 'r');
    this.index = openSync(`${path}-shm`, 'r');
  }

  [Symbol.dispose](): void {
    for (const file of [this.database, this.log, this.index]) closeSync(file);
  }
}

/** The log was started anew since the state that changes are asked for. */
export class LogRestarted extends Error {
  override readonly name = 'LogRestarted';
}

/**
 * One state of a database in WAL mode that another process may write meanwhile: its pages as octets, and queries. A read
 * transaction keeps checkpoints from overwriting what the state consists of: frames of the log up to its end, else pages
 * of the file. So no page is copied before it is read, and the writer never waits.
 */
export class DatabaseSnapshot implements Disposable {
  readonly pageSize: number;
  readonly pages: number;
  /** State of the log at the begin. */
  readonly log: WalIndexState;
  readonly #db: DatabaseSync;
  readonly #files: DatabaseFiles;
  #frames: ReadonlyMap<number, number> | undefined;

  private constructor(db: DatabaseSync, files: DatabaseFiles, log: WalIndexState) {
    this.#db = db;
    this.#files = files;
    this.log = log;
    this.pageSize = numberOf(db, 'PRAGMA page_size');
    this.pages = numberOf(db, 'PRAGMA page_count');
  }

  static async open(path: string, files: DatabaseFiles): Promise<DatabaseSnapshot> {
    const db = new DatabaseSync(path, { timeout: 5_000 });
    db.exec('PRAGMA query_only = 1');
    return new DatabaseSnapshot(db, files, await begin(db, files.index));
  }

  /** True: all frames are in the file, and the log may be started anew while the file cannot be changed. */
  get inFile(): boolean {
    return this.log.backfilled === this.log.frames;
  }

  /**
   * Positions in the log of the pages that differ from an earlier state, which is still held. A state that is in the file
   * keeps later logs out of it, any other one keeps the log from being started anew: no change is missed.
   */
  changedSince(before: DatabaseSnapshot): ReadonlyMap<number, number> {
    const isSameLog = this.log.salts.equals(before.log.salts);
    if (!isSameLog && !before.inFile) throw new LogRestarted('the log was started anew below a snapshot');
    return walFrames(this.#files.log, this.pageSize, this.log, isSameLog ? before.log.frames : 0);
  }

  /** Rows of this state. */
  all<T extends Row>(sql: string, ...params: Value[]): T[] {
    return this.#db.prepare(sql).all(...params) as T[];
  }

  /** Reads a page, counted from 0. `into` has the size of a page. */
  read(page: number, into: Buffer): void {
    const { log } = this.#files;
    this.#frames ??= this.inFile ? new Map() : walFrames(log, this.pageSize, this.log);
    this.#readAt(page, this.#frames.get(page), into);
  }

  /** Reads a page at its position in the log, which {@link changedSince} gave. */
  readChanged(page: number, position: number, into: Buffer): void {
    this.#readAt(page, position, into);
  }

  #readAt(page: number, frame: number | undefined, into: Buffer): void {
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
  }
}

/**
 * Opens snapshots of one database, of which several may be held at the same time. It opens the files of the database
 * itself and keeps them open: the first close() of one of them would drop the locks of every snapshot. So no other
 * connection of this process may use that database.
 */
export class SnapshotSource implements Disposable {
  readonly #path: string;
  #files: DatabaseFiles | undefined;
  #connection: DatabaseSync | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async open(): Promise<DatabaseSnapshot> {
    return DatabaseSnapshot.open(this.#path, this.#open());
  }

  /** State of the log; undefined while it is being changed. */
  log(): WalIndexState | undefined {
    return readWalIndex(this.#open().index);
  }

  /** Copies what no snapshot needs any more from the log into the database. Does not wait for the writer. */
  checkpoint(): void {
    this.#open();
    this.#connection?.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  #open(): DatabaseFiles {
    if (this.#files !== undefined) return this.#files;
    if (!existsSync(this.#path)) {
      throw new BackupProblem(
        `There is no database ${this.#path}. Set MAILSTEAD_DATA_DIR or --data-dir to the data directory.`,
      );
    }
    this.#connection = new DatabaseSync(this.#path, { timeout: 5_000 });
    // Creates the log and its index, if the server does not run. A database that was restored and never used has no log.
    this.#connection.exec('PRAGMA journal_mode = WAL; BEGIN; SELECT count(*) FROM sqlite_schema; ROLLBACK');
    return (this.#files = new DatabaseFiles(this.#path));
  }

  /** No snapshot of it is open any more. */
  [Symbol.dispose](): void {
    this.#connection?.close();
    this.#files?.[Symbol.dispose]();
    this.#connection = this.#files = undefined;
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
