import { Worker } from 'node:worker_threads';
import type { Log } from '../../../mail/log.ts';
import { refuse } from '../../core/refusal.ts';
import type { TextTask, TextTaskRunner } from '../../core/text-tasks.ts';
import type { TextJob, TaskOutcome, performTask, TextResult } from './tasks.ts';

/** Octets of a text that is read in the main thread: the worst case takes some milliseconds. */
const MAX_INLINE_OCTETS = 8 * 1024;
/** CPU ms that the main thread may spend on reading in each window; further texts go to the worker. */
const SHARE_MS = 10;
const WINDOW_MS = 100;
/** Octets of texts that wait for the worker. */
const MAX_QUEUED_OCTETS = 64 * 1024 * 1024;
/** Includes the start of the thread. The slowest text takes one CPU second. */
const DEFAULT_TIMEOUT_MS = 10_000;
/** An idle thread is ended after this time. */
const IDLE_MS = 60_000;
const DEFAULT_HEAP_MB = 192;
const YOUNG_HEAP_MB = 16;
const THREAD = new URL('thread.ts', import.meta.url);

interface QueuedText {
  ask: { name: TextTask; job: TextJob<TextTask> };
  octets: number;
  resolve: (outcome: TaskOutcome) => void;
}

export interface TextReaderOptions {
  log: Log;
  /** Time limit for one text, ms. */
  longestMs?: number;
  /** Heap of the thread, MB. */
  heapMb?: number;
  /** Worker module. */
  thread?: URL;
}

/**
 * Parses untrusted texts without blocking the event loop: short ones in the main thread within a CPU budget, the others
 * one at a time in a worker thread that starts on demand.
 */
export class TextReader implements TextTaskRunner, AsyncDisposable {
  readonly #log: Log;
  readonly #longestMs: number;
  readonly #thread: URL;
  readonly #heapMb: number;
  /** The first one is being read. */
  readonly #queue: QueuedText[] = [];
  #octets = 0;
  /** CPU ms spent in this window. */
  #spent = 0;
  #since = -Infinity;
  #perform: typeof performTask | undefined;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ log, longestMs = DEFAULT_TIMEOUT_MS, thread = THREAD, heapMb = DEFAULT_HEAP_MB }: TextReaderOptions) {
    this.#heapMb = heapMb;
    this.#log = log;
    this.#longestMs = longestMs;
    this.#thread = thread;
  }

  /**
   * Runs a task on a text; undefined if it failed or exceeded a limit. Refuses with `unavailable` if the queue is
   * full.
   */
  async read<N extends TextTask>(name: N, job: TextJob<N>): Promise<TextResult<N> | undefined> {
    // Loaded on first use.
    this.#perform ??= (await import('./tasks.ts')).performTask;
    const octets = weight(job);
    const isShort = octets <= MAX_INLINE_OCTETS && this.#hasTime();
    const outcome = isShort ? this.#readHere(this.#perform, name, job) : await this.#readInWorker(name, job, octets);
    if ('value' in outcome) return outcome.value;
    this.#log.warn({ task: name, octets, reason: outcome.failed }, 'failed to read a text, its content is not shown');
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { resolve } of this.#queue.splice(0)) resolve({ failed: 'the box is being stopped' });
    await this.#worker?.terminate();
  }

  #hasTime(): boolean {
    const now = performance.now();
    if (now - this.#since > WINDOW_MS) [this.#since, this.#spent] = [now, 0];
    return this.#spent < SHARE_MS;
  }

  #readHere<N extends TextTask>(work: typeof performTask, name: N, job: TextJob<N>): TaskOutcome<N> {
    const before = process.threadCpuUsage();
    const outcome = work(name, job);
    const { user, system } = process.threadCpuUsage(before);
    this.#spent += (user + system) / 1000;
    return outcome;
  }

  #readInWorker<N extends TextTask>(name: N, job: TextJob<N>, octets: number): Promise<TaskOutcome> {
    if (this.#closed || this.#octets + octets > MAX_QUEUED_OCTETS) {
      refuse('unavailable', 'Too many messages are being read: retry in a few seconds.', { retryAfterSeconds: 5 });
    }
    const { promise, resolve } = Promise.withResolvers<TaskOutcome>();
    this.#octets += octets;
    this.#queue.push({ ask: { name, job }, octets, resolve });
    if (this.#queue.length === 1) this.#next();
    return promise;
  }

  #next(): void {
    clearTimeout(this.#timer);
    const [first] = this.#queue;
    if (first !== undefined && !this.#begin(first)) return;
    const worker = this.#worker;
    const ms = first === undefined ? IDLE_MS : this.#longestMs;
    this.#timer = setTimeout(() => this.#end(worker, 'it took too long'), ms).unref();
  }

  /** False: the system cannot start a thread now. */
  #begin({ ask }: QueuedText): boolean {
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(ask);
      return true;
    } catch (error) {
      setImmediate(() => this.#finish({ failed: String(error) }));
      return false;
    }
  }

  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: this.#heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB };
    const worker = new Worker(this.#thread, { name: 'reading', resourceLimits });
    worker.unref();
    let why = 'the thread ended';
    worker.on('message', (outcome: TaskOutcome) => {
      // A result of a terminated worker belongs to a text that was given up.
      if (this.#worker === worker) this.#finish(outcome);
    });
    worker.on('error', (error) => (why = String(error)));
    worker.on('exit', () => this.#end(worker, why));
    return worker;
  }

  /** Terminates a worker and fails the text that it was reading. */
  #end(worker: Worker | undefined, why: string): void {
    if (worker === undefined || this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    if (this.#queue.length > 0) this.#finish({ failed: why });
  }

  #finish(outcome: TaskOutcome): void {
    const first = this.#queue.shift();
    this.#octets -= first?.octets ?? 0;
    first?.resolve(outcome);
    if (!this.#closed) this.#next();
  }
}

/** Counts octets and characters in plain data. */
function weight(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + weight(one), 0);
}
