import type { DatabaseConnection } from './connection.ts';
import type { Query, Read, Row, Value } from './types.ts';

/** Called before each statement; returns a promise to await first if the query has run too long, else undefined. */
export type StatementYield = () => Promise<void> | undefined;

/** Runs queries on one read connection, one at a time, each in its own snapshot. */
export class Reader {
  readonly #connection: DatabaseConnection;
  #last: Promise<unknown> = Promise.resolve();
  #busy = 0;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  /** Without `due` the query never yields. */
  query<I, O>(what: Query<I, O>, input: I, due?: StatementYield): Promise<O> {
    return this.#inTurn(() => this.#run(what, input, due));
  }

  /** Runs synchronous work that takes a snapshot, when no query is open: one may begin between any two awaits. */
  between<T>(work: () => T): Promise<T> {
    return this.#inTurn(() => settle(work));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    // Bodies await only `rx`, so the previous query ends within this macrotask.
    const mine = this.#busy === 0 ? work() : this.#last.then(work);
    this.#busy++;
    const done = (): void => void this.#busy--;
    this.#last = mine.then(done, done);
    return mine;
  }

  /** Runs synchronous reads in one snapshot; for the shared views, which must update within a tick. */
  snapshot<T>(body: (connection: DatabaseConnection) => T): T {
    // The snapshot of an open query may be older than the commit that the view has to see.
    if (this.#connection.inTransaction) throw new Error('snapshot requested during a query');
    this.#connection.run('BEGIN', []);
    try {
      return body(this.#connection);
    } finally {
      endSnapshot(this.#connection);
    }
  }

  close(): void {
    this.#connection.close();
  }

  async #run<I, O>(what: Query<I, O>, input: I, due: StatementYield | undefined): Promise<O> {
    const connection = this.#connection;
    if (what.single === true) return what.run(oneStatement(connection, due), input);
    const yielding = <T>(work: () => T): Promise<T> => due?.()?.then(work) ?? settle(work);
    const rx: Read = {
      get: <T extends Row>(sql: string, ...params: Value[]) => yielding(() => connection.get<T>(sql, params)),
      all: <T extends Row>(sql: string, ...params: Value[]) => yielding(() => connection.all<T>(sql, params)),
      pause: () => due?.(),
    };
    connection.run('BEGIN', []);
    try {
      return await what.run(rx, input);
    } finally {
      endSnapshot(connection);
    }
  }
}

/** Read access for one statement; a second one would see another snapshot. */
function oneStatement(connection: DatabaseConnection, due: StatementYield | undefined): Read {
  let used = false;
  const once = <T>(work: () => T): Promise<T> => {
    if (used) return Promise.reject(new Error('a lookup has one statement: declare a query'));
    used = true;
    return due?.()?.then(work) ?? settle(work);
  };
  return {
    get: <T extends Row>(sql: string, ...params: Value[]) => once(() => connection.get<T>(sql, params)),
    all: <T extends Row>(sql: string, ...params: Value[]) => once(() => connection.all<T>(sql, params)),
  };
}

/** An error may have ended it already, and a second error would hide the first. */
function endSnapshot(connection: DatabaseConnection): void {
  if (!connection.inTransaction) return;
  try {
    connection.run('COMMIT', []);
  } catch {
    // After a damaged page COMMIT fails too; without an end, so would every later query.
    if (connection.inTransaction) connection.run('ROLLBACK', []);
  }
}

function settle<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
