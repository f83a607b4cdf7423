import { Worker } from 'node:worker_threads';
import { Watchdog } from '../../limits/watchdog.ts';
import type { Log, Meter } from '../../log.ts';
import { answerBlobRequest, type BlobProvider } from '../blob/blob-request.ts';
import { StoreFailure } from '../engine/client.ts';
import type { ThreadData } from '../engine/thread-messages.ts';
import type { Query } from '../engine/types.ts';
import { SweepSchedule } from './sweep-schedule.ts';
import type { TextIndexPaths } from './text-index.ts';
import type { FromText, ToText } from './text-thread.ts';
import { type TextSearchResult, type TextSearchQuery, TextWorker } from './text-worker.ts';

/** Delay after the last commit, and at most after the first: indexing must not slow arriving mail. */
const INDEX_DELAY_MS = 2_000;
const MAX_INDEX_DELAY_MS = 60_000;
/** Time for the thread to end before it is terminated. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Idle time after which the thread ends, since it costs 30 MB. */
const IDLE_MS = 15_000;
/** Delay of a restart after a crash without requests, since the cause may persist. */
const RESTART_DELAY_MS = 60_000;

/** Full-text search of the store. */
export interface TextSearch {
  /** Schedules indexing after a commit, or at the start. Returns at once. */
  committed(): void;
  /** Schedules the removal of words of purged messages. Returns at once. */
  purged(): void;
  search<I, O>(what: Query<I, O>, input: I, query: TextSearchQuery): Promise<TextSearchResult<O>>;
  close(): Promise<void>;
}

interface PendingSearch {
  resolve(value: TextSearchResult<never>): void;
  reject(error: Error): void;
}

export interface TextClientOptions {
  thread: URL;
  place: TextIndexPaths;
  /** Fetches files that are in a bucket. */
  provideBlob?: BlobProvider;
  /** Heap of the thread, MB. Undefined: V8's default. */
  heapMb?: number | undefined;
  /** See {@link Watchdog}. */
  beatMs?: number | undefined;
}

/** Client of the full-text thread, which starts on demand. */
export class TextClient implements TextSearch {
  readonly #thread: URL;
  readonly #place: TextIndexPaths;
  readonly #provideBlob: BlobProvider;
  readonly #heapMb: number | undefined;
  readonly #beatMs: number | undefined;
  readonly #log: Log;
  readonly #meter: Meter;
  readonly #waiting = new Map<number, PendingSearch>();
  #worker: Worker | undefined;
  #id = 0;
  #timer: NodeJS.Timeout | undefined;
  #watchdog: Watchdog | undefined;
  /** New messages are being indexed. */
  #isIndexing = false;
  #first = 0;
  #latest = 0;
  #closed = false;
  readonly #sweeps = new SweepSchedule(performance.now());
  #sweepTimer: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Requests during the end of an idle thread, since two threads must not write one file. */
  #later: ToText[] | undefined;

  constructor({ thread, place, heapMb, beatMs, provideBlob }: TextClientOptions, log: Log, meter: Meter) {
    this.#provideBlob = provideBlob ?? (() => Promise.resolve(false));
    this.#heapMb = heapMb;
    this.#beatMs = beatMs;
    this.#thread = thread;
    this.#place = place;
    this.#log = log;
    this.#meter = meter;
  }

  committed(): void {
    this.#latest = performance.now();
    if (this.#timer !== undefined || this.#closed) return;
    this.#first = this.#latest;
    this.#arm(INDEX_DELAY_MS);
  }

  purged(): void {
    this.#sweeps.request();
    this.committed();
  }

  search<I, O>(what: Query<I, O>, input: I, textQuery: TextSearchQuery): Promise<TextSearchResult<O>> {
    if (this.#closed) return Promise.resolve({ kind: 'unavailable' });
    const id = ++this.#id;
    return new Promise<TextSearchResult<O>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ kind: 'search', id, name: what.name, input, textQuery });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#sweepTimer);
    clearTimeout(this.#idle);
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage({ kind: 'close' } satisfies ToText);
    // A search may be running; an interrupted batch is repeated.
    const impatient = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
    await ended;
    clearTimeout(impatient);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#due(), ms);
    this.#timer.unref();
  }

  #due(): void {
    const now = performance.now();
    const left = Math.min(this.#latest + INDEX_DELAY_MS, this.#first + MAX_INDEX_DELAY_MS) - now;
    if (left > 0) {
      this.#arm(left);
      return;
    }
    this.#timer = undefined;
    this.#post({ kind: 'wake', sweep: this.#sweeps.begin(now) });
    this.#armSweep();
  }

  /** Wakes the thread when the next sweep may begin. */
  #armSweep(): void {
    clearTimeout(this.#sweepTimer);
    const ms = this.#sweeps.waitMs(performance.now());
    if (ms === undefined || this.#closed) return;
    this.#sweepTimer = setTimeout(() => this.committed(), ms).unref();
  }

  #onSwept(complete: boolean): void {
    this.#sweeps.end(performance.now(), complete);
    this.#armSweep();
  }

  #post(message: ToText): void {
    clearTimeout(this.#idle);
    if (this.#later !== undefined) {
      this.#later.push(message);
      return;
    }
    this.#worker ??= this.#start();
    this.#isIndexing ||= message.kind === 'wake';
    this.#worker.postMessage(message);
  }

  #rest(): void {
    clearTimeout(this.#idle);
    if (this.#waiting.size > 0 || this.#closed) return;
    this.#idle = setTimeout(() => {
      this.#later = [];
      this.#worker?.postMessage({ kind: 'close' } satisfies ToText);
    }, IDLE_MS).unref();
  }

  /** Handles the end of an idle thread: pending requests start another. */
  #onIdleExit(later: readonly ToText[]): void {
    this.#endWatch();
    this.#later = undefined;
    this.#worker = undefined;
    if (!this.#closed) for (const message of later) this.#post(message);
  }

  #start(): Worker {
    const workerData: ThreadData = { role: 'text', place: this.#place };
    const resourceLimits = this.#heapMb === undefined ? {} : { maxOldGenerationSizeMb: this.#heapMb };
    const worker = new Worker(this.#thread, { workerData, name: 'full text', resourceLimits });
    worker.unref();
    this.#watchdog = new Watchdog({
      isBusy: () => this.#waiting.size > 0 || this.#isIndexing,
      ping: () => worker.postMessage({ kind: 'ping' } satisfies ToText),
      onSilent: () => {
        this.#onCrash(worker, new Error('the full-text thread did not respond for 30 s'));
        void worker.terminate();
      },
      ...(this.#beatMs !== undefined && { beatMs: this.#beatMs }),
    });
    worker.on('message', (message: FromText) => this.#heard(message));
    worker.on('error', (error) => this.#onCrash(worker, error as Error));
    worker.on('exit', () => {
      if (this.#later === undefined) this.#onCrash(worker, new Error('the full-text thread ended'));
      else this.#onIdleExit(this.#later);
    });
    return worker;
  }

  /** Fails running searches as retryable; the next request or commit, or time, starts another thread. */
  #onCrash(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#endWatch();
    this.#onSwept(false);
    clearTimeout(this.#idle);
    for (const waiting of this.#waiting.values()) waiting.resolve({ kind: 'unavailable' });
    this.#waiting.clear();
    if (this.#closed) return;
    this.#log.error({ err: error }, 'the full-text thread failed and will be restarted');
    this.#meter.count('text_failures_total');
    if (this.#timer === undefined) this.#arm(RESTART_DELAY_MS);
  }

  #endWatch(): void {
    this.#watchdog?.[Symbol.dispose]();
    this.#isIndexing = false;
  }

  #measure({ how, name, value }: FromText & { kind: 'measured' }): void {
    if (how === 'count') this.#meter.count(name, {}, value);
    else this.#meter[how](name, value);
  }

  #heard(message: FromText): void {
    this.#watchdog?.heard();
    if (message.kind === 'blob') void answerBlobRequest(message, this.#provideBlob).then(() => this.#watchdog?.heard());
    if (message.kind === 'said') this.#log[message.level](message.fields, message.text);
    if (message.kind === 'measured') this.#measure(message);
    if (message.kind === 'idle') {
      this.#isIndexing = false;
      if (message.swept !== undefined) this.#onSwept(message.swept);
      this.#rest();
    }
    if (message.kind !== 'searched' && message.kind !== 'failed') return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'searched') waiting?.resolve(message.searched as TextSearchResult<never>);
    else waiting?.reject(new StoreFailure({ message: message.message, stack: message.stack, reason: 'fault' }));
    this.#rest();
  }
}

/** Full-text search on the calling thread, which indexes only on search. */
export class LocalText implements TextSearch {
  readonly #worker: TextWorker;

  constructor(place: TextIndexPaths, log: Log, meter: Meter) {
    this.#worker = new TextWorker(place, log, meter);
  }

  committed(): void {
    // The next search updates the index.
  }

  purged(): void {
    // Programs that run on one thread are too short for sweeps.
  }

  search<I, O>(what: Query<I, O>, input: I, textQuery: TextSearchQuery): Promise<TextSearchResult<O>> {
    return this.#worker.search(what, input, textQuery);
  }

  close(): Promise<void> {
    return this.#worker.close();
  }
}
