import { type Query, type Read, StoreBusy, type Value } from '../types.ts';
import { isAway, isPostgresDiskFull, type PostgresConnection } from './connection.ts';
import { DedicatedConnection } from './dedicated.ts';

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
    if (what.single !== true) return this.snapshot((rx) => what.run(rx, input));
    return this.#connected((connection) => what.run(oneStatement(readOf(connection)), input));
  }

  /** Runs several reads in one snapshot. */
  snapshot<T>(body: (rx: Read) => Promise<T>): Promise<T> {
    return this.#connected(async (connection) => {
      // Sent with the first statement of the body.
      const begun = connection.run(BEGIN, []);
      try {
        const [value] = await Promise.all([body(readOf(connection)), begun]);
        return value;
      } finally {
        await connection.run('COMMIT', []);
      }
    });
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
