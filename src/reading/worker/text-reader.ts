import { TurnQueue } from '../../../mail/limits/turn-queue.ts';
import { MemoryBudget, type MemoryReservation, organizationHolder } from '../../../mail/limits/memory-budget.ts';
import type { Log } from '../../../mail/log.ts';
import { refuse } from '../../core/refusal.ts';
import type { TextTask, TextTaskRunner } from '../../core/text-tasks.ts';
import { ReadingThread } from './reading-thread.ts';
import type { TextJob, TaskOutcome, performTask, TextResult } from './tasks.ts';

/** Octets of a text that is read in the main thread: the worst case takes some milliseconds. */
const MAX_INLINE_OCTETS = 8 * 1024;
/** CPU ms that the main thread may spend on reading in each window; further texts go to a worker. */
const SHARE_MS = 10;
const WINDOW_MS = 100;
/** Octets of texts that wait for the workers, for callers without a budget. */
const MAX_QUEUED_OCTETS = 64 * 1024 * 1024;
/** The slowest text takes one CPU second. */
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_HEAP_MB = 192;
/** Threads. Each organization has one at a time, so that one with many long texts leaves the other free. */
const MAX_THREADS = 2;
const THREAD = new URL('thread.ts', import.meta.url);
/** Holder of texts that belong to no organization. */
const BOX = 0;

interface QueuedText {
  ask: { name: TextTask; job: TextJob<TextTask> };
  organization: number;
  memory: MemoryReservation;
  resolve: (outcome: TaskOutcome) => void;
}

export interface TextReaderOptions {
  log: Log;
  /** Time limit for one text, ms. */
  longestMs?: number;
  /** Heap of a thread, MB. */
  heapMb?: number;
  /** Worker module. */
  thread?: URL;
  /** Memory of the texts that wait and are read. */
  memory?: MemoryBudget;
  /** ms, monotonic. */
  clock?: () => number;
}

/**
 * Parses untrusted texts without blocking the event loop: short ones in the main thread within a CPU budget, the others in
 * two worker threads that start on demand. Organizations take turns, and each has one thread at a time.
 */
export class TextReader implements TextTaskRunner, AsyncDisposable {
  readonly #log: Log;
  readonly #memory: MemoryBudget;
  readonly #clock: () => number;
  readonly #idle: ReadingThread[];
  readonly #threads: readonly ReadingThread[];
  readonly #queue = new TurnQueue<QueuedText>();
  /** Organizations whose text is being read. */
  readonly #reading = new Set<number>();
  /** CPU ms spent in this window. */
  #spent = 0;
  #since = -Infinity;
  #perform: typeof performTask | undefined;
  #closed = false;

  constructor(options: TextReaderOptions) {
    const { log, longestMs = DEFAULT_TIMEOUT_MS, thread = THREAD, heapMb = DEFAULT_HEAP_MB, memory } = options;
    this.#log = log;
    this.#clock = options.clock ?? (() => performance.now());
    this.#memory = memory ?? new MemoryBudget(MAX_QUEUED_OCTETS);
    this.#threads = Array.from({ length: MAX_THREADS }, () => new ReadingThread({ thread, heapMb, longestMs }));
    // The last is taken first.
    this.#idle = this.#threads.toReversed();
  }

  for(organization: number): TextTaskRunner {
    return {
      read: (name, job) => this.read(name, job, organization),
      for: (other) => this.for(other),
    };
  }

  /**
   * Runs a task on a text; undefined if it failed or exceeded a limit. Refuses with `unavailable` if no memory is left for
   * a text of this organization to wait.
   */
  async read<N extends TextTask>(name: N, job: TextJob<N>, organization = BOX): Promise<TextResult<N> | undefined> {
    // Loaded on first use.
    this.#perform ??= (await import('./tasks.ts')).performTask;
    const octets = weight(job);
    const isShort = octets <= MAX_INLINE_OCTETS && this.#hasTime();
    const outcome = isShort
      ? this.#readHere(this.#perform, name, job)
      : await this.#readInWorker({ name, job }, octets, organization);
    if ('value' in outcome) return outcome.value;
    this.#log.warn({ task: name, octets, reason: outcome.failed }, 'failed to read a text, its content is not shown');
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const why = 'the box is being stopped';
    for (const { resolve } of this.#queue.clear()) resolve({ failed: why });
    await Promise.all(this.#threads.map((thread) => thread.close(why)));
  }

  #hasTime(): boolean {
    const now = this.#clock();
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

  async #readInWorker(ask: QueuedText['ask'], octets: number, organization: number): Promise<TaskOutcome> {
    using memory = this.#memory.open([organizationHolder(organization)]);
    if (this.#closed || !memory.tryGrow(octets)) {
      refuse('unavailable', 'Too many messages are being read: retry in a few seconds.', { retryAfterSeconds: 5 });
    }
    const { promise, resolve } = Promise.withResolvers<TaskOutcome>();
    this.#queue.push(organization, { ask, organization, memory, resolve });
    this.#next();
    return await promise;
  }

  #next(): void {
    while (this.#idle.length > 0 && !this.#closed) {
      const text = this.#queue.shift((one) => !this.#reading.has(Number(one)));
      const thread = text && this.#idle.pop();
      if (text === undefined || thread === undefined) return;
      void this.#readBy(thread, text);
    }
  }

  async #readBy(thread: ReadingThread, { ask, organization, resolve }: QueuedText): Promise<void> {
    this.#reading.add(organization);
    const outcome = await thread.read(ask);
    this.#reading.delete(organization);
    this.#idle.push(thread);
    resolve(outcome);
    this.#next();
  }
}

/** Counts octets and characters in plain data. */
function weight(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, one) => sum + weight(one), 0);
}
