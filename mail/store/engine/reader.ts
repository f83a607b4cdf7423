import type { Connection } from './connection.ts';
import type { Query, Read, Row, Value } from './types.ts';

/** Asked before each statement: what the query waits for first, if it has had its turn. */
export type Pace = () => Promise<void> | undefined;

/** Runs queries on one reading connection, one at a time, each in a snapshot of its own. */
export class Reader {
  readonly #connection: Connection;
  readonly #pace: () => Pace | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #busy = 0;

  /** `pace` is asked once for each query. Without one no query waits for anything but the connection. */
  constructor(connection: Connection, pace: () => Pace | undefined = () => undefined) {
    this.#connection = connection;
    this.#pace = pace;
  }

  query<I, O>(what: Query<I, O>, input: I): Promise<O> {
    // Bodies await nothing but `rx`, so the one before is over within this macrotask; waiting for it is cheap.
    const mine = this.#busy === 0 ? this.#run(what, input) : this.#last.then(() => this.#run(what, input));
    this.#busy++;
    const done = (): void => void this.#busy--;
    this.#last = mine.then(done, done);
    return mine;
  }

  /** Several synchronous reads in one snapshot; for the shared views, which must catch up within a tick. */
  snapshot<T>(body: (connection: Connection) => T): T {
    // While a query is open its snapshot may be older than the commit that the view has to see.
    if (this.#connection.inTransaction) throw new Error('a snapshot inside a query');
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

  async #run<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const connection = this.#connection;
    const pace = this.#pace();
    const paced = <T>(work: () => T): Promise<T> => pace?.()?.then(work) ?? settle(work);
    const rx: Read = {
      get: <T extends Row>(sql: string, ...params: Value[]) => paced(() => connection.get<T>(sql, params)),
      all: <T extends Row>(sql: string, ...params: Value[]) => paced(() => connection.all<T>(sql, params)),
    };
    connection.run('BEGIN', []);
    try {
      return await what.run(rx, input);
    } finally {
      endSnapshot(connection);
    }
  }
}

/** An error can have ended it already; another one about that would hide it. */
function endSnapshot(connection: Connection): void {
  if (connection.inTransaction) connection.run('COMMIT', []);
}

function settle<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
