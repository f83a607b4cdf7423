import { Worker } from 'node:worker_threads';
import { KeyedSemaphore } from '../../limits/keyed-semaphore.ts';
import { Watchdog } from '../../limits/watchdog.ts';
import { answerBlobRequest, type BlobProvider, type BlobRequest } from '../blob/blob-request.ts';
import { toError } from './client.ts';
import type { FromReader, ThreadData, ToReader } from './thread-messages.ts';
import { readerLane } from './reader-pool.ts';
import { type Query, StoreBusy } from './types.ts';

/** Queries under way: of one account or organization, and in total. */
const MAX_IN_LANE = 32;
const MAX_QUERIES = 256;

export interface ReaderClientOptions {
  thread: URL;
  database: string;
  /** Fetches files that are in a bucket. */
  provideBlob?: BlobProvider;
  /** Heap of a reader thread, MB. Undefined: V8's default. */
  heapMb?: number | undefined;
  /** Interval in which a busy thread is asked for a sign of life, ms; six without one end it. */
  beatMs?: number | undefined;
}

/** Thrown when a thread ended with the query under way, which may be the cause. */
class ReaderEnded extends Error {}

/** Thrown when a thread ended because another query held it up. */
class ReaderBlocked extends ReaderEnded {}

/** Runs of a query in the shared thread when others hold it up. */
const MAX_RUNS = 3;

/**
 * Client of the reader thread, which starts on first use since most servers never search. When the thread ends, each query
 * under way runs again in a thread of its own, so that only the one that ends its thread twice fails. A thread that does
 * not respond for 30 s is ended: the query that it was running fails, the others run again.
 */
export class ReaderClient {
  readonly #options: ReaderClientOptions;
  readonly #underWay = new KeyedSemaphore({ lane: MAX_IN_LANE }, MAX_QUERIES);
  /** The threads that run. */
  readonly #threads = new Set<ReaderThread>();
  #shared: ReaderThread | undefined;
  /** Settles when the last query that runs alone has ended. */
  #alone: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(options: ReaderClientOptions) {
    this.#options = options;
  }

  /** Rejects with {@link StoreBusy} when too many queries are under way. */
  async query<I, O>(what: Query<I, O>, input: I): Promise<O> {
    using permit = this.#underWay.tryAcquire({ lane: readerLane(input) });
    if (permit === undefined) throw new StoreBusy('queue', 'too many searches are under way');
    return await this.#run(what, input, MAX_RUNS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#threads].map((thread) => thread.close()));
  }

  async #run<I, O>(what: Query<I, O>, input: I, runs: number): Promise<O> {
    const shared = (this.#shared ??= this.#start());
    try {
      return await shared.query(what.name, input);
    } catch (error) {
      if (!(error instanceof ReaderEnded) || this.#closed) throw error;
      if (error instanceof ReaderBlocked && runs > 1) return await this.#run(what, input, runs - 1);
      return await this.#runAlone(what, input);
    }
  }

  #runAlone<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const mine = this.#alone.then(async () => {
      const thread = this.#start();
      try {
        return await thread.query<I, O>(what.name, input);
      } finally {
        await thread.close();
      }
    });
    this.#alone = mine.catch(() => undefined);
    return mine;
  }

  #start(): ReaderThread {
    const thread: ReaderThread = new ReaderThread(this.#options, () => {
      this.#threads.delete(thread);
      if (this.#shared === thread) this.#shared = undefined;
    });
    this.#threads.add(thread);
    return thread;
  }
}

/** One reader thread with its queries. */
class ReaderThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  readonly #ended: () => void;
  readonly #watchdog: Watchdog;
  readonly #provideBlob: BlobProvider;
  /** Id of the query that the thread runs now. */
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  #id = 0;

  constructor({ thread, database, heapMb, beatMs, provideBlob }: ReaderClientOptions, ended: () => void) {
    this.#ended = ended;
    this.#provideBlob = provideBlob ?? (() => Promise.resolve(false));
    const workerData: ThreadData = { role: 'reader', database, running: this.#running.buffer };
    const resourceLimits = heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 8 };
    this.#worker = new Worker(thread, { workerData, name: 'store reader', resourceLimits });
    this.#worker.unref();
    this.#worker.on('message', (message: FromReader) => this.#onMessage(message));
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('the thread ended')));
    this.#watchdog = new Watchdog({
      isBusy: () => this.#waiting.size > 0,
      ping: () => this.#worker.postMessage({ kind: 'ping' } satisfies ToReader),
      onSilent: () => this.#endBlocked(),
      ...(beatMs !== undefined && { beatMs }),
    });
  }

  query<I, O>(name: string, input: I): Promise<O> {
    const id = ++this.#id;
    return new Promise<O>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ kind: 'query', id, name, input } satisfies ToReader);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #onMessage(message: FromReader): void {
    this.#watchdog.heard();
    if (message.kind === 'blob') void this.#provide(message);
    if (message.kind !== 'answer') return;
    const { answer } = message;
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.value as never);
    else waiting?.reject(toError(answer.failure));
  }

  /** Fetches a file for the thread, which blocks meanwhile and cannot give a sign of life. */
  async #provide(request: BlobRequest): Promise<void> {
    await answerBlobRequest(request, this.#provideBlob);
    this.#watchdog.heard();
  }

  /** Fails the query that holds the thread up; the others run again. */
  #endBlocked(): void {
    const id = Atomics.load(this.#running, 0);
    const blocking = this.#waiting.get(id);
    this.#waiting.delete(id);
    blocking?.reject(new Error('the query did not end within 30 s and held up its thread'));
    // Without a culprit each of them may be the one.
    if (blocking !== undefined) {
      const error = new ReaderBlocked('the reader thread was held up by another query');
      for (const waiting of this.#waiting.values()) waiting.reject(error);
      this.#waiting.clear();
    }
    this.#end(new Error('the thread did not respond for 30 s'));
    void this.#worker.terminate();
  }

  #end(cause: Error): void {
    this.#watchdog[Symbol.dispose]();
    this.#ended();
    const error = new ReaderEnded('the reader thread ended during a query', { cause });
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
  }
}
