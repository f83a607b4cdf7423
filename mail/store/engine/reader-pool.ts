import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DatabaseConnection } from './connection.ts';
import { Reader, type StatementYield } from './reader.ts';
import type { Query } from './types.ts';

/** Time slice of a query before other queries run, ms; checked between statements. */
const TIME_SLICE_MS = 20;
/** Maximum concurrent queries, each with a snapshot, a connection and its cache. */
const MAX_QUERIES = 8;
/** Page cache of additional connections, which are closed after use, KiB. */
const FURTHER_CACHE_KIB = 4096;

/**
 * Runs long queries on one thread, each in its own snapshot, with those of different accounts interleaved. Queries of
 * one account are serialized, so a busy account delays only itself.
 */
export class ReaderPool {
  readonly #open: () => DatabaseConnection;
  readonly #first: Reader;
  readonly #free: Reader[] = [];
  readonly #waiting: ((reader: Reader) => void)[] = [];
  readonly #lanes = new Map<string, Promise<unknown>>();
  #opened = 1;

  constructor(open: () => DatabaseConnection) {
    this.#open = open;
    this.#first = new Reader(open(), timeSlices);
    this.#free.push(this.#first);
  }

  query<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const lane = laneOf(input);
    const before = this.#lanes.get(lane) ?? Promise.resolve();
    const mine = before.then(() => this.#run(what, input));
    const ended = mine.then(nothing, nothing).then(() => {
      if (this.#lanes.get(lane) === ended) this.#lanes.delete(lane);
    });
    this.#lanes.set(lane, ended);
    return mine;
  }

  /** Closes the connections. No query is running, since the thread ends between two messages. */
  close(): void {
    for (const reader of this.#free) reader.close();
  }

  async #run<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const reader = await this.#take();
    try {
      return await reader.query(what, input);
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
    return new Reader(connection, timeSlices);
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

const nothing = (): void => undefined;

/** The account of a query, by which queries are serialized. */
export function laneOf(input: unknown): string {
  const { account, tenant, organization } = (input ?? {}) as Record<string, unknown>;
  return JSON.stringify([account, tenant, organization]);
}

function timeSlices(): StatementYield {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TIME_SLICE_MS) return undefined;
    return yieldToEventLoop().then(() => void (since = performance.now()));
  };
}
