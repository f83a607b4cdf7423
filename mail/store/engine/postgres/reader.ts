import { type Query, type Read, StoreBusy, type Value } from '../types.ts';
import type { PostgresConnection } from './connection.ts';
import { DedicatedConnection } from './dedicated.ts';
import { isAway, isPostgresDiskFull, isTransactionFailed } from './errors.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ';

/** Runs queries on a bounded number of connections, each in its own snapshot. */
export class PostgresReader {
  readonly #url: string;
  readonly #limit: number;
  /** All connections, also those that are being opened. */
  readonly #open = new Set<Promise<DedicatedConnection>>();
  readonly #free: DedicatedConnection[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(url: string, connections: number) {
    this.#url = url;
    this.#limit = connections;
  }

  /** Ends all connections at once: queries that await a reply fail, and the next ones connect again. */
  renew(): void {
    void this.close();
  }

  /** Rejects with {@link StoreBusy} if the database does not answer. */
  query<I, O>(what: Query<I, O>, input: I): Promise<O> {
    if (what.single !== true) return this.#querySnapshot(what, input);
    return this.#connected((connection) => what.run(oneStatement(readOf(connection)), input));
  }

  /**
   * A query that leaves out a damaged message goes on after a failed statement, which has ended its transaction: it runs
   * again with each statement in a savepoint.
   */
  async #querySnapshot<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const body = (rx: Read): Promise<O> => what.run(rx, input);
    try {
      return await this.snapshot(body);
    } catch (error) {
      if (!isTransactionFailed(error)) throw error;
    }
    return this.#connected((connection) => inTransaction(connection, body, inSavepoints(connection)));
  }

  /** Runs several reads in one snapshot. */
  snapshot<T>(body: (rx: Read) => Promise<T>): Promise<T> {
    return this.#connected((connection) => inTransaction(connection, body, readOf(connection)));
  }

  async close(): Promise<void> {
    const open = [...this.#open];
    this.#open.clear();
    this.#free.length = 0;
    await Promise.allSettled(open.map(async (connection) => (await connection).close()));
  }

  async #connected<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    let taken: DedicatedConnection | undefined;
    try {
      taken = await this.#take();
      return await work(taken.statements);
    } catch (error) {
      if (isAway(error)) throw new StoreBusy('database', 'the database does not answer', { cause: error });
      if (isPostgresDiskFull(error))
        throw new StoreBusy('disk-full', 'the disk of the database is full', { cause: error });
      throw error;
    } finally {
      if (taken !== undefined) this.#release(taken);
    }
  }

  async #take(): Promise<DedicatedConnection> {
    for (;;) {
      const free = this.#free.pop();
      if (free === undefined && this.#open.size < this.#limit) return await this.#connect();
      if (free?.isClosed === false) return free;
      if (free === undefined) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async #connect(): Promise<DedicatedConnection> {
    const opening = DedicatedConnection.open(this.#url);
    this.#open.add(opening);
    try {
      const connection = await opening;
      connection.onClose(() => this.#remove(opening));
      return connection;
    } catch (error) {
      this.#remove(opening);
      throw error;
    }
  }

  #remove(opening: Promise<DedicatedConnection>): void {
    this.#open.delete(opening);
    this.#waiting.shift()?.();
  }

  #release(connection: DedicatedConnection): void {
    if (connection.isClosed) return;
    this.#free.push(connection);
    this.#waiting.shift()?.();
  }
}

async function inTransaction<T>(connection: PostgresConnection, body: (rx: Read) => Promise<T>, rx: Read): Promise<T> {
  // Sent with the first statement of the body.
  const begun = connection.run(BEGIN, []);
  try {
    const [value] = await Promise.all([body(rx), begun]);
    return value;
  } finally {
    await connection.run('COMMIT', []);
  }
}

/** Runs each statement in a savepoint, one after the other. */
function inSavepoints(connection: PostgresConnection): Read {
  let last: Promise<unknown> = Promise.resolve();
  const guard = async <T>(statement: () => Promise<T>): Promise<T> => {
    await connection.run('SAVEPOINT statement', []);
    try {
      return await statement();
    } catch (error) {
      await connection.run('ROLLBACK TO SAVEPOINT statement', []);
      throw error;
    } finally {
      await connection.run('RELEASE SAVEPOINT statement', []);
    }
  };
  const next = <T>(statement: () => Promise<T>): Promise<T> => {
    const result = last.then(() => guard(statement));
    last = result.catch(() => undefined);
    return result;
  };
  return {
    get: (text, ...params) => next(() => connection.get(text, params)) as never,
    all: (text, ...params) => next(() => connection.all(text, params)) as never,
  };
}

function readOf(connection: PostgresConnection): Read {
  return {
    get: (text: string, ...params: Value[]) => connection.get(text, params) as never,
    all: (text: string, ...params: Value[]) => connection.all(text, params) as never,
  };
}

/** A second statement of a lookup would see another snapshot. */
function oneStatement(rx: Read): Read {
  let used = false;
  const once = <T>(work: () => Promise<T>): Promise<T> => {
    if (used) return Promise.reject(new Error('a lookup has one statement: declare a query'));
    used = true;
    return work();
  };
  return {
    get: (text, ...params) => once(() => rx.get(text, ...params)),
    all: (text, ...params) => once(() => rx.all(text, ...params)),
  };
}
