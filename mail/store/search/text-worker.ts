import { setImmediate as yieldToEventLoop, setTimeout as pause } from 'node:timers/promises';
import type { Log, Meter } from '../../log.ts';
import type { Query } from '../engine/types.ts';
import { isDamaged, isOfDatabase } from './text-file.ts';
import { TextIndex, type TextIndexPaths } from './text-index.ts';

/** Result of a text search. */
export type TextSearchResult<O> =
  | { kind: 'found'; value: O }
  /** Some messages of the account are not indexed yet, and the wait timed out. */
  | { kind: 'behind'; indexed: number; total: number }
  /** The index is unusable now and will be rebuilt. */
  | { kind: 'unavailable' };

export interface TextSearchQuery {
  account: number;
  /** Maximum wait for unindexed messages, ms. */
  patienceMs: number;
}

/** Pause between two batches without waiting searches, so that arriving mail goes first. */
const PAUSE_MS = 40;
const SWEEP_PAUSE_MS = 250;
/** Time without new mail before segments are merged. */
const MERGE_AFTER_MS = 5_000;
/** Pause after an error, such as a full disk. */
const AGAIN_MS = 60_000;
/** Interval of progress reports. */
const REPORT_INTERVAL_MS = 1_000;

/** Keeps the index up to date and searches it. One per thread. */
export class TextWorker {
  readonly #place: TextIndexPaths;
  readonly #log: Log;
  readonly #meter: Meter;
  readonly #stop = new AbortController();
  #index: TextIndex | undefined;
  #following: Promise<boolean> | undefined;
  #isSweepDue = false;
  #merging: Promise<void> | undefined;
  #wakes = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #damaged = false;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(place: TextIndexPaths, log: Log, meter: Meter) {
    this.#place = place;
    this.#log = log;
    this.#meter = meter;
  }

  /** Indexes new messages; with `sweep`, removes purged ones. Resolves when that is done, or with false if it failed. */
  async wake(sweep: boolean): Promise<boolean> {
    if (performance.now() - this.#failedAt < AGAIN_MS || this.#stop.signal.aborted) return false;
    this.#wakes++;
    this.#isSweepDue ||= sweep;
    this.#following ??= this.#follow().finally(() => (this.#following = undefined));
    const done = await this.#following;
    this.#mergeLater();
    return done;
  }

  /** Indexes the account, then runs the query. Throws only errors of the query itself. */
  async search<I, O>(
    what: Query<I, O>,
    input: I,
    { account, patienceMs }: TextSearchQuery,
  ): Promise<TextSearchResult<O>> {
    const until = performance.now() + patienceMs;
    this.#mergeLater();
    try {
      for (;;) {
        const late = await this.#catchUp(account, until);
        if (late !== undefined) return late;
        const found = await this.#open().query(what, input, account);
        if (found !== undefined) return { kind: 'found', value: found.value };
      }
    } catch (error) {
      if (!isOfDatabase(error)) throw error;
      this.#failed(error);
      return { kind: 'unavailable' };
    }
  }

  /** One complete sweep for purged messages. */
  async sweep(pauseMs = SWEEP_PAUSE_MS): Promise<void> {
    while (this.#open().sweep()) await pause(pauseMs, undefined, { signal: this.#stop.signal, ref: false });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#following;
    await this.#merging;
    this.#index?.close();
  }

  /** Works until no wake came meanwhile; false: it failed or was stopped. */
  async #follow(): Promise<boolean> {
    try {
      for (let seen = -1; seen !== this.#wakes;) {
        seen = this.#wakes;
        while (this.#batch((index) => index.step()) > 0)
          await pause(PAUSE_MS, undefined, { signal: this.#stop.signal, ref: false });
        if (!this.#isSweepDue) continue;
        this.#isSweepDue = false;
        await this.sweep();
      }
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(error);
      return false;
    }
  }

  #mergeLater(): void {
    this.#merging ??= this.#mergeWhenIdle().finally(() => (this.#merging = undefined));
  }

  /** Merges segments while no mail arrives: a phrase in 21 segments takes six times as long as in one. */
  async #mergeWhenIdle(): Promise<void> {
    const wait = (ms: number): Promise<void> => pause(ms, undefined, { signal: this.#stop.signal, ref: false });
    try {
      for (let seen = -1; seen !== this.#wakes; await wait(MERGE_AFTER_MS)) seen = this.#wakes;
      while (this.#following === undefined && this.#index?.merge() === true) await wait(PAUSE_MS);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(error);
    }
  }

  #batch(run: (index: TextIndex) => number): number {
    const began = performance.now();
    const done = run(this.#open());
    const now = performance.now();
    if (done > 0) this.#meter.observe('text_batch_seconds', (now - began) / 1000);
    if (done > 0 && now - this.#reportedAt < REPORT_INTERVAL_MS) return done;
    this.#reportedAt = now;
    this.#meter.gauge('text_backlog_messages', this.#open().backlog());
    return done;
  }

  #open(): TextIndex {
    this.#index ??= new TextIndex(this.#place, this.#log, { damaged: this.#damaged });
    this.#damaged = false;
    return this.#index;
  }

  async #catchUp(account: number, until: number): Promise<TextSearchResult<never> | undefined> {
    try {
      for (;;) {
        const { left, total } = this.#open().progress(account);
        if (left === 0) return undefined;
        if (performance.now() > until) return { kind: 'behind', indexed: total - left, total };
        this.#batch((index) => index.advance(account));
        await yieldToEventLoop();
      }
    } catch (error) {
      this.#failed(error);
      return { kind: 'unavailable' };
    }
  }

  /**
   * Handles an index error without affecting mail: a damaged file is rebuilt at the next use, other failures pause the
   * index.
   */
  #failed(error: unknown): void {
    this.#log.warn({ err: error }, 'failed to use the full-text index, will retry');
    this.#meter.count('text_failures_total');
    this.#damaged = isDamaged(error);
    if (!this.#damaged) this.#failedAt = performance.now();
    this.#index?.close();
    this.#index = undefined;
  }
}
