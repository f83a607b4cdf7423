import { Worker } from 'node:worker_threads';
import type { Log, Meter } from '../../log.ts';
import { StoreFailure } from '../engine/client.ts';
import type { ThreadData } from '../engine/messages.ts';
import type { Query } from '../engine/types.ts';
import type { TextPlace } from './text-index.ts';
import type { FromText, ToText } from './text-thread.ts';
import { type Searched, type TextAsked, TextWorker } from './text-worker.ts';

/** After the last commit, and after the first one at most: one that arrives is not slowed by its index. */
const QUIET_MS = 2_000;
const LATEST_MS = 60_000;
/** At the end, before the thread is cut off. */
const PATIENCE_MS = 1_000;
const SWEEP_EVERY_MS = 3_600_000;
/** A thread costs 30 MB: one that nobody needs ends. */
const IDLE_MS = 15_000;
/** After the thread broke, when nobody asks: what broke it may be there for long. */
const AGAIN_MS = 60_000;

/** Full-text search as the store has it. */
export interface TextSearch {
  /** Mail was committed: it is indexed soon. Returns at once. */
  committed(): void;
  search<I, O>(what: Query<I, O>, input: I, asked: TextAsked): Promise<Searched<O>>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: Searched<never>): void;
  reject(error: Error): void;
}

/** The main thread's end of the full-text thread, which starts when there is first something to do. */
export class TextClient implements TextSearch {
  readonly #thread: URL;
  readonly #place: TextPlace;
  readonly #log: Log;
  readonly #meter: Meter;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #id = 0;
  #timer: NodeJS.Timeout | undefined;
  #first = 0;
  #latest = 0;
  #closed = false;
  #sweptAt = performance.now();
  #idle: NodeJS.Timeout | undefined;
  /** What is asked while an idle thread ends: two would write one file. */
  #later: ToText[] | undefined;

  constructor(thread: URL, place: TextPlace, log: Log, meter: Meter) {
    this.#thread = thread;
    this.#place = place;
    this.#log = log;
    this.#meter = meter;
  }

  committed(): void {
    this.#latest = performance.now();
    if (this.#timer !== undefined || this.#closed) return;
    this.#first = this.#latest;
    this.#arm(QUIET_MS);
  }

  search<I, O>(what: Query<I, O>, input: I, asked: TextAsked): Promise<Searched<O>> {
    if (this.#closed) return Promise.resolve({ kind: 'unavailable' });
    const id = ++this.#id;
    return new Promise<Searched<O>>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ kind: 'search', id, name: what.name, input, asked });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#idle);
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage({ kind: 'close' } satisfies ToText);
    // A search may be under way, and a batch that is cut off is made again.
    const impatient = setTimeout(() => void worker.terminate(), PATIENCE_MS);
    await ended;
    clearTimeout(impatient);
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#due(), ms);
    this.#timer.unref();
  }

  #due(): void {
    const now = performance.now();
    const left = Math.min(this.#latest + QUIET_MS, this.#first + LATEST_MS) - now;
    if (left > 0) {
      this.#arm(left);
      return;
    }
    this.#timer = undefined;
    const sweep = now - this.#sweptAt > SWEEP_EVERY_MS;
    if (sweep) this.#sweptAt = now;
    this.#post({ kind: 'wake', sweep });
  }

  #post(message: ToText): void {
    clearTimeout(this.#idle);
    if (this.#later !== undefined) {
      this.#later.push(message);
      return;
    }
    this.#worker ??= this.#start();
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

  /** An idle thread has ended: what was asked meanwhile begins another. */
  #rested(later: readonly ToText[]): void {
    this.#later = undefined;
    this.#worker = undefined;
    if (!this.#closed) for (const message of later) this.#post(message);
  }

  #start(): Worker {
    const workerData: ThreadData = { role: 'text', place: this.#place };
    const worker = new Worker(this.#thread, { workerData, name: 'full text' });
    worker.unref();
    worker.on('message', (message: FromText) => this.#heard(message));
    worker.on('error', (error) => this.#broke(worker, error as Error));
    worker.on('exit', () => {
      if (this.#later === undefined) this.#broke(worker, new Error('the full-text thread ended'));
      else this.#rested(this.#later);
    });
    return worker;
  }

  /** Searches that were under way are told to come again; the next one, or mail, or time starts another thread. */
  #broke(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    clearTimeout(this.#idle);
    for (const waiting of this.#waiting.values()) waiting.resolve({ kind: 'unavailable' });
    this.#waiting.clear();
    if (this.#closed) return;
    this.#log.error({ err: error }, 'the full-text thread broke and is started again');
    this.#meter.count('text_failures_total');
    if (this.#timer === undefined) this.#arm(AGAIN_MS);
  }

  #measure({ how, name, value }: FromText & { kind: 'measured' }): void {
    if (how === 'count') this.#meter.count(name, {}, value);
    else this.#meter[how](name, value);
  }

  #heard(message: FromText): void {
    if (message.kind === 'said') this.#log[message.level](message.fields, message.text);
    if (message.kind === 'measured') this.#measure(message);
    if (message.kind === 'idle') this.#rest();
    if (message.kind !== 'searched' && message.kind !== 'failed') return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'searched') waiting?.resolve(message.searched as Searched<never>);
    else waiting?.reject(new StoreFailure({ message: message.message, stack: message.stack, reason: 'fault' }));
    this.#rest();
  }
}

/** On the calling thread, without a life of its own: it indexes when it is asked. */
export class LocalText implements TextSearch {
  readonly #worker: TextWorker;

  constructor(place: TextPlace, log: Log, meter: Meter) {
    this.#worker = new TextWorker(place, log, meter);
  }

  committed(): void {
    // The next search brings the index up to date.
  }

  search<I, O>(what: Query<I, O>, input: I, asked: TextAsked): Promise<Searched<O>> {
    return this.#worker.search(what, input, asked);
  }

  close(): Promise<void> {
    return this.#worker.close();
  }
}
