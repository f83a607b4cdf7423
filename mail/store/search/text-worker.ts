import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import type { Log, Meter } from '../../log.ts';
import { sqliteCode } from '../engine/connection.ts';
import type { Query } from '../engine/types.ts';
import { isDamaged } from './text-file.ts';
import { TextIndex, type TextPlace } from './text-index.ts';

/** What a text search is answered with. */
export type Searched<O> =
  | { kind: 'found'; value: O }
  /** Not all of the account's messages are indexed yet, and waiting for it took too long. */
  | { kind: 'behind'; indexed: number; total: number }
  /** The index cannot be used now; it makes itself anew. */
  | { kind: 'unavailable' };

export interface TextAsked {
  account: number;
  /** How long the search waits for messages that are not indexed yet, in ms. */
  patienceMs: number;
}

/** Between two batches, for as long as nobody waits: arriving mail goes first. */
const PAUSE_MS = 40;
const SWEEP_PAUSE_MS = 250;
/** After an error, such as a full disk. */
const AGAIN_MS = 60_000;
/** How often it is told how much is left, while there is some. */
const TOLD_MS = 1_000;

/** Follows the mail database with the index when it is told to, and searches. One a thread. */
export class TextWorker {
  readonly #place: TextPlace;
  readonly #log: Log;
  readonly #meter: Meter;
  readonly #stop = new AbortController();
  #index: TextIndex | undefined;
  #following: Promise<void> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #damaged = false;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(place: TextPlace, log: Log, meter: Meter) {
    this.#place = place;
    this.#log = log;
    this.#meter = meter;
  }

  /** Something may have been committed; with `sweep`, something may have been forgotten. Resolves when all is followed. */
  async wake(sweep: boolean): Promise<void> {
    if (performance.now() - this.#failedAt < AGAIN_MS || this.#stop.signal.aborted) return;
    this.#following ??= this.#follow(sweep).finally(() => (this.#following = undefined));
    await this.#following;
  }

  /** Brings the account up to date, then runs the query. Throws only what the query throws of itself. */
  async search<I, O>(what: Query<I, O>, input: I, { account, patienceMs }: TextAsked): Promise<Searched<O>> {
    const until = performance.now() + patienceMs;
    try {
      for (;;) {
        const late = await this.#catchUp(account, until);
        if (late !== undefined) return late;
        const found = await this.#open().query(what, input, account);
        if (found !== undefined) return { kind: 'found', value: found.value };
      }
    } catch (error) {
      if (sqliteCode(error) === 0) throw error;
      this.#failed(error);
      return { kind: 'unavailable' };
    }
  }

  /** One whole look for what the mail database has forgotten. */
  async sweep(pauseMs = SWEEP_PAUSE_MS): Promise<void> {
    while (this.#open().sweep()) await pause(pauseMs, undefined, { signal: this.#stop.signal, ref: false });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    this.#index?.close();
  }

  async #follow(sweep: boolean): Promise<void> {
    try {
      while (this.#batch((index) => index.step()) > 0)
        await pause(PAUSE_MS, undefined, { signal: this.#stop.signal, ref: false });
      if (sweep) await this.sweep();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(error);
    }
  }

  #batch(run: (index: TextIndex) => number): number {
    const began = performance.now();
    const done = run(this.#open());
    const now = performance.now();
    if (done > 0) this.#meter.observe('text_batch_seconds', (now - began) / 1000);
    if (done > 0 && now - this.#toldAt < TOLD_MS) return done;
    this.#toldAt = now;
    this.#meter.gauge('text_backlog_messages', this.#open().backlog());
    return done;
  }

  #open(): TextIndex {
    this.#index ??= new TextIndex(this.#place, this.#log, this.#damaged);
    this.#damaged = false;
    return this.#index;
  }

  async #catchUp(account: number, until: number): Promise<Searched<never> | undefined> {
    try {
      for (;;) {
        const { left, total } = this.#open().standing(account);
        if (left === 0) return undefined;
        if (performance.now() > until) return { kind: 'behind', indexed: total - left, total };
        this.#batch((index) => index.advance(account));
        await turn();
      }
    } catch (error) {
      this.#failed(error);
      return { kind: 'unavailable' };
    }
  }

  /** Mail goes on whatever happens here. What is damaged is made anew at the next use, what fails is left alone a while. */
  #failed(error: unknown): void {
    this.#log.warn({ err: error }, 'the full-text index could not be used');
    this.#meter.count('text_failures_total');
    this.#damaged = isDamaged(error);
    if (!this.#damaged) this.#failedAt = performance.now();
    this.#index?.close();
    this.#index = undefined;
  }
}
