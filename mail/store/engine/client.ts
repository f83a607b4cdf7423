import { Worker } from 'node:worker_threads';
import type { FromWriter, ThreadData, ToWriter } from './thread-messages.ts';
import type { ReportUpgrade } from './upgrade-step.ts';
import { type Command, StoreBusy, type WakeUp } from './types.ts';
import type { WriteResponse, Failure, WriteJob } from './writer-host.ts';

const MAX_PENDING = 20_000;
const MAX_PENDING_BYTES = 32 * 1024 * 1024;

interface PendingWrite {
  resolve(value: never): void;
  reject(error: Error): void;
  bytes: number;
  began: number;
}

/** A failure of a command or query in a store thread, with that thread's stack. */
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
  /**
   * Called before the promises of the batch resolve, so that the shared views are updated before every reply. They
   * resolve after the returned promise.
   */
  committed(wakeUps: readonly WakeUp[]): Promise<void> | undefined;
  /** Called when the process must end because the store is no longer durable. */
  fatal: (error: Error) => void;
  observe(what: 'commands' | 'seconds', value: number): void;
  /** Called before each step of a change of the tables. */
  upgrading?: ReportUpgrade | undefined;
}

/** Client of the writer thread. Commands of one event-loop turn cross in one message. */
export class WriterClient {
  readonly #options: WriterClientOptions;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PendingWrite>();
  #outbox: WriteJob[] = [];
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
      worker.once('exit', () => reject(new Error('the writer thread ended during startup')));
      worker.on('message', (message: FromWriter) => {
        if (message.kind === 'upgrading') options.upgrading?.(message.step);
        else resolve();
      });
    });
    // Named events only: without a name the worker's internal listeners are removed too, and no message arrives.
    for (const event of ['error', 'exit', 'message']) worker.removeAllListeners(event);
    worker.on('message', (message: FromWriter) => client.#onMessage(message));
    worker.on('error', (error) => client.#end(error as Error));
    worker.on('exit', () => {
      client.#exited = true;
      client.#closed?.();
      if (client.#closed === undefined) client.#end(new Error('the writer thread ended'));
    });
    return client;
  }

  /** Number of commands that await their commit. */
  get depth(): number {
    return this.#waiting.size;
  }

  write<I, O>(what: Command<I, O>, input: I, slice: boolean): Promise<O> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const bytes = octets(input);
    const full = this.#bytes > 0 && this.#bytes + bytes > MAX_PENDING_BYTES;
    if (full || this.#waiting.size >= MAX_PENDING) {
      return Promise.reject(new StoreBusy('queue', 'too many writes are pending'));
    }
    if (this.#outbox.length === 0) setImmediate(() => this.#post());
    const id = ++this.#id;
    this.#outbox.push({ id, name: what.name, input, stamp: { now: this.#options.clock() }, slice });
    this.#bytes += bytes;
    return new Promise<O>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, bytes, began: performance.now() });
    });
  }

  /** Flushes pending commands and closes the database. */
  async close(): Promise<void> {
    // The exit event does not fire again.
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

  #onMessage(message: FromWriter): void {
    if (message.kind === 'answers') this.#resolveResponses(message.answers, message.wakeUps);
    else if (message.kind === 'fatal') this.#end(new StoreFailure(message.failure));
  }

  #resolveResponses(answers: readonly WriteResponse[], wakeUps: readonly WakeUp[]): void {
    this.#options.observe('commands', answers.length);
    const seen = wakeUps.length > 0 ? this.#options.committed(wakeUps) : undefined;
    if (seen === undefined) this.#settle(answers);
    else void seen.then(() => this.#settle(answers));
  }

  #settle(answers: readonly WriteResponse[]): void {
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

export function toError(failure: Failure): Error {
  return failure.reason === 'fault' ? new StoreFailure(failure) : new StoreBusy(failure.reason, failure.message);
}

/** Octets of a command, for the limit of pending octets; only top-level fields carry significant data. */
function octets(input: unknown): number {
  if (typeof input !== 'object' || input === null) return 0;
  let sum = 0;
  for (const value of Object.values(input)) if (value instanceof Uint8Array) sum += value.byteLength;
  return sum;
}
