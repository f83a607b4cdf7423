import { Worker } from 'node:worker_threads';
import type { TextTask } from '../../core/text-tasks.ts';
import type { TaskOutcome, TextJob } from './tasks.ts';

/** An idle thread is ended after this time. */
const IDLE_MS = 60_000;
const YOUNG_HEAP_MB = 16;

export interface ReadingThreadOptions {
  thread: URL;
  /** Heap, MB. */
  heapMb: number;
  /** Time limit for one text, ms; includes the start of the thread. */
  longestMs: number;
}

/** Reads one text at a time in a worker thread, which starts on demand and ends when it takes too long. */
export class ReadingThread {
  readonly #options: ReadingThreadOptions;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Settles the text that is being read. */
  #resolve: ((outcome: TaskOutcome) => void) | undefined;

  constructor(options: ReadingThreadOptions) {
    this.#options = options;
  }

  /** Reads a text; the caller waits for the outcome before the next. Never rejects. */
  read(ask: { name: TextTask; job: TextJob<TextTask> }): Promise<TaskOutcome> {
    clearTimeout(this.#timer);
    const { promise, resolve } = Promise.withResolvers<TaskOutcome>();
    this.#resolve = resolve;
    try {
      const worker = (this.#worker ??= this.#start());
      worker.postMessage(ask);
      this.#timer = setTimeout(() => this.#end(worker, 'it took too long'), this.#options.longestMs).unref();
    } catch (error) {
      // The system cannot start a thread now.
      this.#finish({ failed: String(error) });
    }
    return promise;
  }

  /** Ends the thread and fails the text that is being read. */
  async close(why: string): Promise<void> {
    const worker = this.#worker;
    this.#end(worker, why);
    await worker?.terminate();
  }

  #start(): Worker {
    const { thread, heapMb } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB };
    const worker = new Worker(thread, { name: 'reading', resourceLimits });
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

  #end(worker: Worker | undefined, why: string): void {
    if (worker === undefined || this.#worker !== worker) return;
    this.#worker = undefined;
    void worker.terminate();
    this.#finish({ failed: why });
  }

  #finish(outcome: TaskOutcome): void {
    const [resolve, worker] = [this.#resolve, this.#worker];
    clearTimeout(this.#timer);
    this.#resolve = undefined;
    if (worker !== undefined) this.#timer = setTimeout(() => this.#end(worker, 'idle'), IDLE_MS).unref();
    resolve?.(outcome);
  }
}
