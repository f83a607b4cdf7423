import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';
import type { FromFilterThread, ToFilterThread } from './thread-messages.ts';

/** A busy thread sends heartbeats; one that is silent for this long waits for something that never comes. */
const MAX_SILENCE_MS = 15_000;
/** A thread that is silent and used this much CPU time meanwhile is in a loop. */
const MAX_SILENT_CPU_MS = 2_000;
/** Time that a thread has to close before it is terminated. */
const CLOSE_TIMEOUT_MS = 1_000;
/** Memory limits of the thread: one message must not exhaust the memory of the process. */
const DEFAULT_HEAP_MB = 256;
const YOUNG_HEAP_MB = 8;

/** Reason why a thread ended: an endless loop, out of memory, an error, or a wait that never ended. */
export type FilterExitReason = 'loop' | 'memory' | 'crash' | 'silence';

export interface FilterWorkerOptions {
  /** Heap of the thread, MB. */
  heapMb?: number;
  /** Module that calls `runFilterThread`, the composition root of the thread. */
  thread: URL;
  /** Settings of that module; plain data. */
  settings: unknown;
  log: Log;
  /** ms. */
  silenceMs?: number;
  cpuMs?: number;
}

interface FilterWorkerListener {
  onMessage(message: FromFilterThread): void;
  /** Comes last, after all messages of the thread. */
  onExit(why: FilterExitReason): void;
}

/** One filter thread from its start to its end, as seen by the main thread. */
export class FilterWorker {
  readonly #worker: Worker;
  readonly #options: FilterWorkerOptions;
  readonly #listener: FilterWorkerListener;
  /** Last message of the thread or start of work, to distinguish a loop from normal work and from an overloaded machine. */
  #beatAt = 0;
  /** CPU time of the thread at its last report, ms; undefined before the first. */
  #cpu: number | undefined;
  /** Requests without a response. */
  #open = 0;
  /** Requests that it has started so far, completed ones included. */
  startedCount = 0;
  #reason: FilterExitReason = 'crash';

  constructor(options: FilterWorkerOptions, listener: FilterWorkerListener) {
    const { thread, settings, log, heapMb = DEFAULT_HEAP_MB } = options;
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB };
    this.#options = options;
    this.#listener = listener;
    const worker = new Worker(thread, { workerData: settings, name: 'filter', resourceLimits });
    worker.unref();
    worker.on('message', (message: FromFilterThread) => this.#onMessage(message));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#reason = 'memory';
      log.error({ err: error }, 'filter thread failed');
    });
    worker.on('exit', () => listener.onExit(this.#reason));
    this.#worker = worker;
  }

  post(message: ToFilterThread): void {
    if (this.#open++ === 0) this.#beatAt = performance.now();
    this.#worker.postMessage(message);
  }

  /** Ends the thread if it makes no progress. Called periodically while it is busy. */
  checkProgress(now: number): void {
    const { silenceMs = MAX_SILENCE_MS, cpuMs = MAX_SILENT_CPU_MS } = this.#options;
    const silence = now - this.#beatAt;
    if (silence > silenceMs) this.end('silence');
    else if (silence > cpuMs) void this.#endLoop(cpuMs);
  }

  end(why: FilterExitReason): void {
    this.#reason = why;
    void this.#worker.terminate();
  }

  /** Closes the thread; terminates it after {@link CLOSE_TIMEOUT_MS}. */
  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.postMessage({ kind: 'close' } satisfies ToFilterThread);
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }

  /** Ends the thread if it used so much CPU time since its last message, and is not still starting. */
  async #endLoop(cpuMs: number): Promise<void> {
    const [before, beatAt] = [this.#cpu, this.#beatAt];
    if (before === undefined) return;
    const used = await this.#worker.cpuUsage().catch(() => undefined);
    if (used === undefined || this.#beatAt !== beatAt) return;
    if ((used.user + used.system) / 1000 - before >= cpuMs) this.end('loop');
  }

  #onMessage(message: FromFilterThread): void {
    const { kind } = message;
    this.#beatAt = performance.now();
    if (kind === 'heartbeat') this.#cpu = message.cpu;
    if (kind === 'started') this.startedCount++;
    if (kind === 'response' || kind === 'failed') this.#open--;
    this.#listener.onMessage(message);
  }
}
