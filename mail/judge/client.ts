import { Worker } from 'node:worker_threads';
import type { Log, Meter } from '../log.ts';
import type { LessonSource } from '../store/lesson-words.ts';
import { type Arriving, type Judge, JudgeAway, type Judgement } from './judging.ts';
import { Line } from './line.ts';
import type { FromJudge, ToJudge } from './messages.ts';
import { Suspects } from './suspects.ts';

/** A message without an answer for so long comes again. */
const PATIENCE_MS = 30_000;
/** A thread that works says so each second; one that says nothing for so long is in a loop. */
const SILENCE_MS = 15_000;
/** After so long without an answer something in the thread was lost, and its place with it. */
const LOST_MS = 300_000;
const LOOK_EVERY_MS = 1_000;
/** After a thread has died, before the next one is started. */
const REST_MS = 1_000;
/** One message must not cost the process its memory; and what is young goes soon, as little of a message is kept. */
const MOST_MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };
/** Octets of messages in the thread at once: what is made of one for the checks has up to three times its size. */
const ROOM = 48 * 1024 * 1024;
/** What the smallest message counts in octets. */
const LEAST = 64 * 1024;
/** Larger ones have a line of their own, for they take seconds, and few are in the thread at once. */
const LARGE = 1024 * 1024;
const MOST_LARGE = 8;
/** Who stands in line for so long comes again; servers wait ten minutes (RFC 5321 4.5.3.2.6). */
const LINE_MS = 120_000;

interface Waiting {
  resolve(value: Judgement | number[]): void;
  reject(error: Error): void;
  since: number;
  /** Nobody waits for the answer any more. */
  given: boolean;
  /** Who sent the message. */
  peer?: string;
  /** The thread is done with it. */
  done(): void;
}

export interface JudgeClientOptions {
  /** The module that calls `runJudgeThread`, the composition root of the thread. */
  thread: URL;
  /** What that module is told; plain data. */
  settings: unknown;
  log: Log;
  meter: Meter;
  /** ms. */
  patienceMs?: number;
  silenceMs?: number;
}

/** The main thread's end of the judge, whose thread starts with the first message. */
export class JudgeClient implements Judge, AsyncDisposable {
  readonly #options: JudgeClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #line = new Line(ROOM, LINE_MS);
  readonly #largeLine = new Line(MOST_LARGE, LINE_MS);
  readonly #suspects = new Suspects();
  #watch: NodeJS.Timeout | undefined;
  /** When the thread last said something, or got something to do. */
  #heardAt = 0;
  #worker: Worker | undefined;
  #diedAt = -Infinity;
  #id = 0;
  #closed = false;

  constructor(options: JudgeClientOptions) {
    this.#options = options;
  }

  async judge(mail: Arriving): Promise<Judgement> {
    const began = performance.now();
    const { ip: peer } = mail.peer;
    if (this.#suspects.isShutOut(peer, began)) {
      throw new JudgeAway('the judge failed again and again while it had mail of this network');
    }
    const isLarge = mail.size > LARGE;
    const [line, weight] = isLarge ? [this.#largeLine, 1] : [this.#line, Math.max(LEAST, mail.size)];
    await line.enter(weight);
    const asked = { peer, done: () => line.leave(weight) };
    const judged = this.#ask((id) => ({ kind: 'judge', id, mail }), asked) as Promise<Judgement>;
    return judged.finally(() => this.#options.meter.observe('judge_seconds', (performance.now() - began) / 1000));
  }

  /** The words of a stored message, to learn from. */
  words(source: LessonSource): Promise<number[]> {
    return this.#ask((id) => ({ kind: 'words', id, source }), { done: () => undefined }) as Promise<number[]>;
  }

  #ask(message: (id: number) => ToJudge, asked: Pick<Waiting, 'peer' | 'done'>): Promise<Judgement | number[]> {
    const now = performance.now();
    if (this.#closed || now - this.#diedAt < REST_MS) {
      asked.done();
      return Promise.reject(new JudgeAway('the judge of incoming mail is not there at the moment'));
    }
    const worker = (this.#worker ??= this.#start());
    if (this.#waiting.size === 0) this.#heardAt = now;
    this.#watch ??= setInterval(() => this.#look(), Math.min(LOOK_EVERY_MS, this.#patienceMs / 2));
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, since: now, given: false, ...asked });
      worker.postMessage(message(id));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    worker.postMessage({ kind: 'close' } satisfies ToJudge);
    const impatient = setTimeout(() => void worker.terminate(), REST_MS);
    await ended;
    clearTimeout(impatient);
  }

  get #patienceMs(): number {
    return this.#options.patienceMs ?? PATIENCE_MS;
  }

  /** A message that takes long fails alone; a thread that is in a loop holds all others up as well. */
  #look(): void {
    const now = performance.now();
    const { silenceMs = SILENCE_MS } = this.#options;
    const isLost = Array.from(this.#waiting.values()).some(({ since }) => now - since > LOST_MS);
    if (isLost || now - this.#heardAt > silenceMs) return void this.#worker?.terminate();
    for (const one of this.#waiting.values()) {
      if (one.given || now - one.since < this.#patienceMs) continue;
      one.given = true;
      one.reject(new Error('the judge of incoming mail did not answer in time'));
    }
  }

  #start(): Worker {
    const { thread, settings, log } = this.#options;
    const worker = new Worker(thread, { workerData: settings, name: 'judge', resourceLimits: MOST_MEMORY });
    worker.unref();
    worker.on('message', (message: FromJudge) => this.#heard(message));
    worker.on('error', (error) => {
      log.error({ err: error }, 'the judge of incoming mail failed, mail is told to come again');
    });
    worker.on('exit', () => this.#ended(worker));
    return worker;
  }

  #ended(worker: Worker): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#diedAt = performance.now();
    if (!this.#closed)
      this.#suspects.note(
        Array.from(this.#waiting.values()).flatMap(({ peer = [] }) => peer),
        this.#diedAt,
      );
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(new Error('the judge of incoming mail ended'));
  }

  #heard(message: FromJudge): void {
    const { log, meter } = this.#options;
    this.#heardAt = performance.now();
    if (message.kind === 'works') return;
    if (message.kind === 'said') return log[message.level](message.fields, message.text);
    if (message.kind === 'counted') return meter.count(message.name, message.labels);
    const waiting = this.#take(message.id);
    if (message.kind === 'answer') waiting?.resolve(message.value);
    else waiting?.reject(Object.assign(new Error(message.message), { stack: message.stack }));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (this.#waiting.delete(id) && this.#waiting.size === 0) {
      clearInterval(this.#watch);
      this.#watch = undefined;
    }
    waiting?.done();
    return waiting;
  }
}
