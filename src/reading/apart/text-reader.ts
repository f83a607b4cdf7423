import { Worker } from 'node:worker_threads';
import type { Log } from '../../../mail/log.ts';
import { refuse } from '../../operations/refusal.ts';
import type { Job, Outcome, perform, Result, TaskName } from './tasks.ts';

/** Octets of a text that may be read at once: the worst of it takes some milliseconds. */
const MOST_HERE = 8 * 1024;
/** ms of its processor that the thread of everybody else spends on reading, in so many ms; what comes then is read apart. */
const SHARE_MS = 10;
const WINDOW_MS = 100;
/** Octets of texts that wait for the thread. */
const MOST_WAITING = 64 * 1024 * 1024;
/** The thread's start is in it. What takes longest takes a second of a processor. */
const LONGEST_MS = 10_000;
/** A thread that had nothing to do for so long is ended. */
const IDLE_MS = 60_000;
const MOST_MEMORY = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 };
const THREAD = new URL('thread.ts', import.meta.url);

interface Waiting {
  ask: { name: TaskName; job: Job<TaskName> };
  octets: number;
  resolve: (outcome: Outcome) => void;
}

export interface TextReaderOptions {
  log: Log;
  /** A text that takes longer is given up. */
  longestMs?: number;
  /** The module that reads what is not read at once. */
  thread?: URL;
}

/**
 * Reads texts of strangers and holds up nobody by it: short ones at once, as long as that takes little time, the others one
 * after the other in a thread that starts when it is needed.
 */
export class TextReader implements AsyncDisposable {
  readonly #log: Log;
  readonly #longestMs: number;
  readonly #thread: URL;
  /** The first of them is being read. */
  readonly #line: Waiting[] = [];
  #octets = 0;
  /** ms that were spent here since then. */
  #spent = 0;
  #since = -Infinity;
  #perform: typeof perform | undefined;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ log, longestMs = LONGEST_MS, thread = THREAD }: TextReaderOptions) {
    this.#log = log;
    this.#longestMs = longestMs;
    this.#thread = thread;
  }

  /**
   * What comes of a text; undefined: it takes too long, or too much, and nothing is known of it. Refuses with `unavailable`
   * when too many others wait.
   */
  async read<N extends TaskName>(name: N, job: Job<N>): Promise<Result<N> | undefined> {
    // A box where nobody reads does without it.
    this.#perform ??= (await import('./tasks.ts')).perform;
    const octets = weight(job);
    const isShort = octets <= MOST_HERE && this.#hasTime();
    const outcome = isShort ? this.#readHere(this.#perform, name, job) : await this.#readApart(name, job, octets);
    if ('value' in outcome) return outcome.value as Result<N>;
    this.#log.warn({ task: name, octets, reason: outcome.failed }, 'a text could not be read, nothing of it is shown');
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { resolve } of this.#line.splice(0)) resolve({ failed: 'the box is being stopped' });
    await this.#worker?.terminate();
  }

  #hasTime(): boolean {
    const now = performance.now();
    if (now - this.#since > WINDOW_MS) [this.#since, this.#spent] = [now, 0];
    return this.#spent < SHARE_MS;
  }

  #readHere<N extends TaskName>(work: typeof perform, name: N, job: Job<N>): Outcome<N> {
    const before = process.threadCpuUsage();
    const outcome = work(name, job);
    const { user, system } = process.threadCpuUsage(before);
    this.#spent += (user + system) / 1000;
    return outcome;
  }

  #readApart<N extends TaskName>(name: N, job: Job<N>, octets: number): Promise<Outcome> {
    if (this.#closed || this.#octets + octets > MOST_WAITING) {
      refuse('unavailable', 'Other messages are being read: try again in a moment.', { retryAfterSeconds: 5 });
    }
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.#octets += octets;
    this.#line.push({ ask: { name, job }, octets, resolve });
    if (this.#line.length === 1) this.#next();
    return promise;
  }

  #next(): void {
    clearTimeout(this.#timer);
    const [first] = this.#line;
    if (first !== undefined && !this.#begin(first)) return;
    const worker = this.#worker;
    const ms = first === undefined ? IDLE_MS : this.#longestMs;
    this.#timer = setTimeout(() => this.#end(worker, 'it took too long'), ms).unref();
  }

  /** False: the system has no room for a thread now. */
  #begin({ ask }: Waiting): boolean {
    try {
      this.#worker ??= this.#start();
      this.#worker.postMessage(ask);
      return true;
    } catch (error) {
      setImmediate(() => this.#heard({ failed: String(error) }));
      return false;
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#thread, { name: 'reading', resourceLimits: MOST_MEMORY });
    worker.unref();
    let why = 'the thread ended';
    worker.on('message', (outcome: Outcome) => {
      // What comes from one that was given up is of a text that was given up.
      if (this.#worker === worker) this.#heard(outcome);
    });
    worker.on('error', (error) => (why = String(error)));
    worker.on('exit', () => this.#end(worker, why));
    return worker;
  }

  /** Ends a thread, and gives up what it was reading. */
  #end(worker: Worker | undefined, why: string): void {
    if (worker === undefined || this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    if (this.#line.length > 0) this.#heard({ failed: why });
  }

  #heard(outcome: Outcome): void {
    const first = this.#line.shift();
    this.#octets -= first?.octets ?? 0;
    first?.resolve(outcome);
    if (!this.#closed) this.#next();
  }
}

/** Octets and characters in plain data. */
function weight(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + weight(one), 0);
}
