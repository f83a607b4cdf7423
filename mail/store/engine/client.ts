import { Worker } from 'node:worker_threads';
import type { FromReader, FromWriter, ThreadData, ToReader, ToWriter } from './messages.ts';
import { type Command, type Query, StoreBusy, type WakeUp } from './types.ts';
import type { Answer, Failure, Job } from './writer.ts';

const MOST_WAITING = 20_000;
const MOST_WAITING_BYTES = 32 * 1024 * 1024;

interface Waiting {
  resolve(value: never): void;
  reject(error: Error): void;
  bytes: number;
  began: number;
}

/** A command or query that failed inside a store thread; the stack is that thread's. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  constructor(failure: Failure) {
    super(failure.message);
    this.stack = failure.stack;
  }
}

export interface WriterClientOptions {
  thread: URL;
  database: string;
  clock: () => number;
  /** Before the promises of the batch resolve, so that the shared views are ahead of every answer. */
  committed(wakeUps: readonly WakeUp[]): void;
  /** The process must end: the store cannot promise anything any more. */
  fatal: (error: Error) => void;
  observe(what: 'commands' | 'seconds', value: number): void;
}

/** The main thread's end of the writer thread. Commands of one turn of the event loop cross in one message. */
export class WriterClient {
  readonly #options: WriterClientOptions;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #outbox: Job[] = [];
  #bytes = 0;
  #id = 0;
  #ended: Error | undefined;
  #closed: (() => void) | undefined;
  #exited = false;

  private constructor(options: WriterClientOptions, worker: Worker) {
    this.#options = options;
    this.#worker = worker;
  }

  static async start(options: WriterClientOptions): Promise<WriterClient> {
    const workerData: ThreadData = { role: 'writer', database: options.database };
    const worker = new Worker(options.thread, { workerData, name: 'store writer' });
    const client = new WriterClient(options, worker);
    await new Promise<void>((resolve, reject) => {
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the writer thread ended before it was ready')));
      worker.once('message', () => resolve());
    });
    // By name: without one the worker's own listeners go too, and no message ever comes again.
    for (const event of ['error', 'exit']) worker.removeAllListeners(event);
    worker.on('message', (message: FromWriter) => client.#heard(message));
    worker.on('error', (error) => client.#end(error as Error));
    worker.on('exit', () => {
      client.#exited = true;
      client.#closed?.();
      if (client.#closed === undefined) client.#end(new Error('the writer thread ended'));
    });
    return client;
  }

  /** Commands that wait for their commit. */
  get depth(): number {
    return this.#waiting.size;
  }

  write<I, O>(what: Command<I, O>, input: I, slice: boolean): Promise<O> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const bytes = octets(input);
    const full = this.#bytes > 0 && this.#bytes + bytes > MOST_WAITING_BYTES;
    if (full || this.#waiting.size >= MOST_WAITING) {
      return Promise.reject(new StoreBusy('queue', 'too many writes are waiting for the disk'));
    }
    if (this.#outbox.length === 0) setImmediate(() => this.#post());
    const id = ++this.#id;
    this.#outbox.push({ id, name: what.name, input, stamp: { now: this.#options.clock() }, slice });
    this.#bytes += bytes;
    return new Promise<O>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, bytes, began: performance.now() });
    });
  }

  /** Waits for what was written and closes the database. */
  async close(): Promise<void> {
    // No exit comes a second time.
    if (this.#exited) return;
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    if (this.#ended === undefined) {
      this.#post();
      this.#worker.postMessage({ kind: 'close' } satisfies ToWriter);
    } else await this.#worker.terminate();
    await closed;
  }

  #post(): void {
    if (this.#outbox.length === 0) return;
    const jobs = this.#outbox;
    this.#outbox = [];
    this.#worker.postMessage({ kind: 'jobs', jobs } satisfies ToWriter);
  }

  #heard(message: FromWriter): void {
    if (message.kind === 'answers') this.#answered(message.answers, message.wakeUps);
    else if (message.kind === 'fatal') this.#end(new StoreFailure(message.failure));
  }

  #answered(answers: readonly Answer[], wakeUps: readonly WakeUp[]): void {
    this.#options.observe('commands', answers.length);
    if (wakeUps.length > 0) this.#options.committed(wakeUps);
    for (const answer of answers) {
      const waiting = this.#waiting.get(answer.id);
      if (waiting === undefined) continue;
      this.#waiting.delete(answer.id);
      this.#bytes -= waiting.bytes;
      this.#options.observe('seconds', (performance.now() - waiting.began) / 1000);
      if (answer.ok) waiting.resolve(answer.value as never);
      else waiting.reject(toError(answer.failure));
    }
  }

  #end(error: Error): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
    this.#options.fatal(error);
  }
}

/** The reader thread, started when first needed: most boxes never search. */
export class ReaderClient {
  readonly #thread: URL;
  readonly #database: string;
  readonly #waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  #worker: Worker | undefined;
  #id = 0;

  constructor(thread: URL, database: string) {
    this.#thread = thread;
    this.#database = database;
  }

  query<I, O>(what: Query<I, O>, input: I): Promise<O> {
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#id;
    return new Promise<O>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ kind: 'query', id, name: what.name, input } satisfies ToReader);
    });
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const workerData: ThreadData = { role: 'reader', database: this.#database };
    const worker = new Worker(this.#thread, { workerData, name: 'store reader' });
    worker.unref();
    worker.on('message', (message: FromReader) => {
      if (message.kind !== 'answer') return;
      const waiting = this.#waiting.get(message.answer.id);
      this.#waiting.delete(message.answer.id);
      if (message.answer.ok) waiting?.resolve(message.answer.value as never);
      else waiting?.reject(new StoreFailure(message.answer.failure));
    });
    const gone = (error: Error): void => {
      if (this.#worker === worker) this.#worker = undefined;
      for (const waiting of this.#waiting.values()) waiting.reject(error);
      this.#waiting.clear();
    };
    worker.on('error', (error) => gone(error as Error));
    worker.on('exit', () => gone(new Error('the reader thread ended')));
    return worker;
  }
}

export function toError(failure: Failure): Error {
  return failure.reason === 'disk-full' ? new StoreBusy('disk-full', failure.message) : new StoreFailure(failure);
}

/** Bytes that a command carries, for the bound on what waits; only top-level fields hold any to speak of. */
function octets(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0;
  let sum = 0;
  for (const value of Object.values(input)) if (value instanceof Uint8Array) sum += value.byteLength;
  return sum;
}
