import type postgres from 'postgres';
import { type Query, type Read, StoreBusy, type Value } from '../types.ts';
import { isAway, openPool, PostgresConnection } from './connection.ts';

const SNAPSHOT = 'isolation level repeatable read read only';
const NO_NUMBERS: ReadonlyMap<string, string> = new Map();

/** Runs queries on a pool of connections, each in its own snapshot. */
export class PostgresReader {
  readonly #url: string;
  readonly #connections: number;
  #pool: postgres.Sql;

  constructor(url: string, connections: number) {
    this.#url = url;
    this.#connections = connections;
    this.#pool = openPool(url, connections);
  }

  /** Ends all connections at once: queries that await a reply fail, and the next ones connect again. */
  renew(): void {
    void this.#pool.end({ timeout: 0 });
    this.#pool = openPool(this.#url, this.#connections);
  }

  /** Rejects with {@link StoreBusy} if the database does not answer. */
  query<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const run = (rx: Read): Promise<O> => what.run(rx, input);
    return what.single === true ? this.#answered(() => run(oneStatement(readOf(this.#pool)))) : this.snapshot(run);
  }

  /** Runs several reads in one snapshot. */
  snapshot<T>(body: (rx: Read) => Promise<T>): Promise<T> {
    return this.#answered(
      () => this.#pool.begin(SNAPSHOT, (sql) => body(readOf(sql as unknown as postgres.Sql))) as Promise<T>,
    );
  }

  close(): Promise<void> {
    return this.#pool.end({ timeout: 5 });
  }

  async #answered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isAway(error)) throw new StoreBusy('database', 'the database does not answer', { cause: error });
      throw error;
    }
  }
}

function readOf(sql: postgres.Sql): Read {
  const connection = new PostgresConnection(sql, NO_NUMBERS);
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
