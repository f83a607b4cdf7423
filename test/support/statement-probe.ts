import { DatabaseSync, StatementSync } from 'node:sqlite';

/** Work of the SQLite connections of one thread. */
export interface StatementCounts {
  statements: number;
  commits: number;
  /** Pages written to write-ahead logs. */
  pages: number;
}

const CHANGES = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE|CREATE)/;
const ENDS_IN_COMMIT = /COMMIT;?\s*$/;
const METHODS = ['run', 'get', 'all'] as const;

type Method = (this: StatementSync, ...params: unknown[]) => unknown;

/**
 * Counts the statements of this thread, BEGIN and the like among them, and after each COMMIT of a change the pages that
 * were added to the log. Disposal restores the prototypes.
 */
export function probeStatements(counts: StatementCounts): Disposable {
  const databases = new WeakMap<StatementSync, { db: DatabaseSync; sql: string }>();
  const frames = new WeakMap<DatabaseSync, number>();
  const changed = new WeakSet<DatabaseSync>();
  const { prepare, exec } = DatabaseSync.prototype as unknown as {
    prepare: (this: DatabaseSync, ...all: unknown[]) => StatementSync;
    exec: (this: DatabaseSync, sql: string) => void;
  };
  const originals = METHODS.map((name) => [name, StatementSync.prototype[name] as Method] as const);
  const { get } = Object.fromEntries(originals) as Record<'get', Method>;
  const readLog = (db: DatabaseSync): number => {
    const row = get.call(prepare.call(db, 'PRAGMA main.wal_checkpoint(NOOP)'));
    // -1: it has no write-ahead log.
    return Math.max(0, (row as { log: number }).log);
  };
  const onCommit = (db: DatabaseSync): void => {
    if (!changed.delete(db)) return;
    const log = readLog(db);
    const before = frames.get(db) ?? 0;
    counts.commits++;
    // A checkpoint lets the log begin again.
    counts.pages += log >= before ? log - before : log;
    frames.set(db, log);
  };
  for (const [name, original] of originals) {
    StatementSync.prototype[name] = function (this: StatementSync, ...params: unknown[]) {
      const { db, sql = '' } = databases.get(this) ?? {};
      counts.statements++;
      if (db !== undefined && CHANGES.test(sql)) changed.add(db);
      const result = original.apply(this, params);
      if (sql === 'COMMIT' && db !== undefined) onCommit(db);
      return result;
    } as never;
  }
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql: string, ...rest: unknown[]) {
    const statement = prepare.call(this, sql, ...rest);
    databases.set(statement, { db: this, sql });
    return statement;
  };
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    exec.call(this, sql);
    counts.statements++;
    if (ENDS_IN_COMMIT.test(sql)) onCommit(this);
  };
  return {
    [Symbol.dispose]() {
      Object.assign(DatabaseSync.prototype, { prepare, exec });
      Object.assign(StatementSync.prototype, Object.fromEntries(originals));
    },
  };
}
