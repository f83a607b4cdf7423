import { setImmediate as others } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { type Pace, Reader } from './reader.ts';
import type { Query } from './types.ts';

/** How long a query goes on before others have their turn, ms: between two statements. */
const TURN_MS = 20;
/** Queries that are under way at once, each with a snapshot, a connection and its cache. */
const MOST = 8;
/** Of a connection beside the first, which is closed again, KiB. */
const FURTHER_CACHE_KIB = 4096;

/**
 * Runs queries that may be long on one thread: each in a snapshot of its own, those of different accounts in turns. One
 * account has one turn, so whoever asks much waits for itself.
 */
export class Readers {
  readonly #open: () => Connection;
  readonly #first: Reader;
  readonly #free: Reader[] = [];
  readonly #waiting: ((reader: Reader) => void)[] = [];
  readonly #lanes = new Map<string, Promise<unknown>>();
  #opened = 1;

  constructor(open: () => Connection) {
    this.#open = open;
    this.#first = new Reader(open(), turns);
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

  /** No query is under way: the thread ends between two messages. */
  close(): void {
    for (const reader of this.#free) reader.close();
  }

  async #run<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const reader = await this.#take();
    try {
      return await reader.query(what, input);
    } finally {
      this.#give(reader);
    }
  }

  #take(): Promise<Reader> | Reader {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#opened === MOST) return new Promise((resolve) => this.#waiting.push(resolve));
    const connection = this.#open();
    connection.script(`PRAGMA cache_size = -${FURTHER_CACHE_KIB}`);
    this.#opened++;
    return new Reader(connection, turns);
  }

  /** One connection stays, and more only as long as somebody waits for them: an idle cache would be memory for nothing. */
  #give(reader: Reader): void {
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

/** Whose query it is. */
function laneOf(input: unknown): string {
  const { account, tenant, organization } = (input ?? {}) as Record<string, unknown>;
  return JSON.stringify([account, tenant, organization]);
}

function turns(): Pace {
  let since = performance.now();
  return () => {
    if (performance.now() - since < TURN_MS) return undefined;
    return others().then(() => void (since = performance.now()));
  };
}
