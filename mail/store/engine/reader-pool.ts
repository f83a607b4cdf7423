import type { DatabaseConnection } from './connection.ts';
import { Lanes } from './lanes.ts';
import { QueryTurns } from './query-turns.ts';
import { Reader } from './reader.ts';
import type { Query } from './types.ts';

/** Maximum concurrent queries, each with a snapshot, a connection and its cache. */
const MAX_QUERIES = 24;
/** Page cache of additional connections, which are closed after use, KiB. */
const FURTHER_CACHE_KIB = 2048;

/**
 * Runs long queries on one thread, each in its own snapshot, with those of different accounts interleaved. Queries of
 * one account are serialized, so a busy account delays only itself.
 */
export class ReaderPool {
  readonly #open: () => DatabaseConnection;
  readonly #turns: QueryTurns;
  readonly #first: Reader;
  readonly #free: Reader[] = [];
  readonly #waiting: ((reader: Reader) => void)[] = [];
  readonly #lanes = new Lanes<string>();
  #opened = 1;

  /** `running` gets the id of the query that runs. */
  constructor(open: () => DatabaseConnection, running: Int32Array = new Int32Array(1)) {
    this.#open = open;
    this.#turns = new QueryTurns(running);
    this.#first = new Reader(open());
    this.#free.push(this.#first);
  }

  query<I, O>(what: Query<I, O>, input: I, id = 0): Promise<O> {
    return this.#lanes.run(readerLane(input), () => this.#run(what, input, id));
  }

  /** Closes the connections. No query is running, since the thread ends between two messages. */
  close(): void {
    for (const reader of this.#free) reader.close();
  }

  async #run<I, O>(what: Query<I, O>, input: I, id: number): Promise<O> {
    const reader = await this.#take();
    try {
      using turn = this.#turns.begin(id);
      return await reader.query(what, input, turn.yields);
    } finally {
      this.#release(reader);
    }
  }

  #take(): Promise<Reader> | Reader {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#opened === MAX_QUERIES) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = this.#open();
    connection.script(`PRAGMA cache_size = -${FURTHER_CACHE_KIB}`);
    this.#opened++;
    return new Reader(connection);
  }

  /** One connection stays open, further ones only while queries wait, to free their caches. */
  #release(reader: Reader): void {
    const next = this.#waiting.shift();
    if (next !== undefined) next(reader);
    else if (reader === this.#first) this.#free.push(reader);
    else {
      reader.close();
      this.#opened--;
    }
  }
}

/** The account of a query, by which queries are serialized. */
export function readerLane(input: unknown): string {
  const { account, tenant, organization } = (input ?? {}) as Record<string, unknown>;
  return JSON.stringify([account, tenant, organization]);
}
