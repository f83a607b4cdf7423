import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { StatementYield } from './reader.ts';

/** Time slice of a query before other queries run, ms; checked between statements. */
const TIME_SLICE_MS = 20;
/** A query that has run longer is long, ms. */
const SHORT_MS = 100;
/** Turns of the event loop that a long query leaves to short ones before its next slice. */
const MAX_DEFERRED = 16;

/** Turns of the queries of one thread: all take turns, and short ones go first. */
export class QueryTurns {
  /** Id of the query that runs now, for the thread that watches this one; 0: none. */
  readonly #running: Int32Array;
  #short = 0;

  constructor(running: Int32Array) {
    this.#running = running;
  }

  /** Begins a query; {@link QueryTurn.yields} is called before each of its statements. */
  begin(id: number): QueryTurn {
    this.#running[0] = id;
    this.#short++;
    let [since, used, isShort] = [performance.now(), 0, true];
    const becomeLong = (): void => {
      if (isShort) this.#short--;
      isShort = false;
    };
    const yields: StatementYield = () => {
      this.#running[0] = id;
      const now = performance.now();
      if (now - since < TIME_SLICE_MS) return undefined;
      used += now - since;
      if (used >= SHORT_MS) becomeLong();
      return this.#others(isShort).then(() => {
        this.#running[0] = id;
        since = performance.now();
      });
    };
    const end = (): void => {
      becomeLong();
      this.#running[0] = 0;
    };
    return { yields, [Symbol.dispose]: end };
  }

  async #others(isShort: boolean): Promise<void> {
    this.#running[0] = 0;
    await yieldToEventLoop();
    if (isShort) return;
    for (let turn = 1; turn < MAX_DEFERRED && this.#short > 0; turn++) await yieldToEventLoop();
  }
}

/** The turns of one query, until it is disposed of. */
export interface QueryTurn extends Disposable {
  yields: StatementYield;
}
