import { Worker } from 'node:worker_threads';
import type { Log, Meter } from '../log.ts';
import type { LessonSource } from '../store/lesson-words.ts';
import { type Arriving, type Judge, JudgeAway, type Judgement } from './judging.ts';
import { Aside } from './aside.ts';
import { Line } from './line.ts';
import type { FromJudge, ToJudge } from './messages.ts';
import { Pulse } from './pulse.ts';
import { Suspects } from './suspects.ts';
import { unchecked } from './unchecked.ts';

/** A message without an answer for so long comes again. */
const PATIENCE_MS = 30_000;
/** A thread that works says so again and again; one that says nothing for so long waits for something that does not come. */
const SILENCE_MS = 15_000;
/** One that says nothing and has had so much of a processor meanwhile is in a loop. */
const CPU_MS = 2_000;
/** After so long without an answer something in the thread was lost, and its place with it. */
const LOST_MS = 300_000;
const LOOK_EVERY_MS = 500;
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
  /** Undefined where words are asked for. */
  mail: Arriving | undefined;
  message: (id: number) => ToJudge;
  /** The thread has begun with it. */
  begun: boolean;
  resolve: (value: Judgement | number[]) => void;
  reject: (error: Error) => void;
  since: number;
  /** Nobody waits for the answer any more. */
  given: boolean;
  /** The thread is done with it. */
  done: () => void;
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
  cpuMs?: number;
  /** One message at a time, whatever its size: what happens is its doing. */
  alone?: boolean;
  /** Whose mail is not looked at any more. */
  suspects?: Suspects;
}

/** The main thread's end of the judge, whose thread starts with the first message. */
export class JudgeClient implements Judge, AsyncDisposable {
  readonly #options: JudgeClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #line = new Line(ROOM, LINE_MS);
  readonly #largeLine = new Line(MOST_LARGE, LINE_MS);
  readonly #suspects: Suspects;
  #watch: NodeJS.Timeout | undefined;
  readonly #pulse = new Pulse();
  readonly #aside: Aside;
  #isLooping = false;
  #worker: Worker | undefined;
  #diedAt = -Infinity;
  #id = 0;
  #closed = false;

  constructor(options: JudgeClientOptions) {
    this.#options = options;
    const suspects = (this.#suspects = options.suspects ?? new Suspects());
    this.#aside = new Aside(() => new JudgeClient({ ...options, alone: true, suspects }));
  }

  async judge(mail: Arriving): Promise<Judgement> {
    const began = performance.now();
    const { ip: peer } = mail.peer;
    if (this.#suspects.isShutOut(peer, began)) {
      throw new JudgeAway('the judge failed again and again while it had mail of this network');
    }
    const [line, weight] = this.#lineFor(mail);
    await line.enter(weight);
    const asked = { mail, done: () => line.leave(weight) };
    const judged = this.#ask((id) => ({ kind: 'judge', id, mail }), asked) as Promise<Judgement>;
    return judged.finally(() => this.#options.meter.observe('judge_seconds', (performance.now() - began) / 1000));
  }

  #lineFor({ size }: Arriving): [line: Line, weight: number] {
    if (this.#options.alone === true) return [this.#line, ROOM];
    return size > LARGE ? [this.#largeLine, 1] : [this.#line, Math.max(LEAST, size)];
  }

  /** The words of a stored message, to learn from. */
  words(source: LessonSource): Promise<number[]> {
    return this.#ask((id) => ({ kind: 'words', id, source }), { mail: undefined, done: () => undefined }) as Promise<
      number[]
    >;
  }

  #ask(message: (id: number) => ToJudge, asked: Pick<Waiting, 'mail' | 'done'>): Promise<Judgement | number[]> {
    const now = performance.now();
    if (this.#closed || now - this.#diedAt < REST_MS) {
      asked.done();
      return Promise.reject(new JudgeAway('the judge of incoming mail is not there at the moment'));
    }
    return new Promise((resolve, reject) => {
      this.#send({ resolve, reject, since: now, given: false, begun: false, message, ...asked });
    });
  }

  #send(waiting: Waiting): void {
    const worker = (this.#worker ??= this.#start());
    if (this.#waiting.size === 0) this.#pulse.heard(performance.now());
    this.#watch ??= setInterval(() => this.#look(), Math.min(LOOK_EVERY_MS, this.#patienceMs / 2));
    const id = ++this.#id;
    this.#waiting.set(id, waiting);
    worker.postMessage(waiting.message(id));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#aside[Symbol.asyncDispose]();
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
    const { silenceMs = SILENCE_MS, cpuMs = CPU_MS } = this.#options;
    const isLost = Array.from(this.#waiting.values()).some(({ since }) => now - since > LOST_MS);
    const silence = this.#pulse.silence(now);
    if (isLost || silence > silenceMs) return void this.#worker?.terminate();
    if (silence > cpuMs && this.#worker !== undefined) void this.#endLoop(this.#worker, cpuMs);
    for (const one of this.#waiting.values()) {
      if (one.given || now - one.since < this.#patienceMs) continue;
      one.given = true;
      one.reject(new Error('the judge of incoming mail did not answer in time'));
    }
  }

  async #endLoop(worker: Worker, cpuMs: number): Promise<void> {
    if (!(await this.#pulse.hasSpent(worker, cpuMs)) || this.#worker !== worker) return;
    this.#isLooping = true;
    await worker.terminate();
  }

  #start(): Worker {
    const { thread, settings, log } = this.#options;
    const worker = new Worker(thread, { workerData: settings, name: 'judge', resourceLimits: MOST_MEMORY });
    worker.unref();
    this.#pulse.begin();
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
    if (this.#isLooping && !this.#closed) return this.#endedLooping();
    this.#diedAt = performance.now();
    if (!this.#closed) this.#suspect(Array.from(this.#waiting.values()));
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(new Error('the judge of incoming mail ended'));
  }

  /**
   * What was not begun with goes to the next thread. Of several others nobody knows which one it was: each is asked about
   * again, alone, while mail goes on here. Nobody asks about what was given up: its octets may be gone.
   */
  #endedLooping(): void {
    this.#isLooping = false;
    this.#options.meter.count('judge_loops_total');
    for (const [id, one] of this.#waiting) if (one.given && !one.begun) this.#take(id);
    const all = [...this.#waiting];
    const begun = all.flatMap(([id, one]) => (one.begun ? (this.#take(id) ?? []) : []));
    // They keep their places in the line.
    this.#waiting.clear();
    for (const [, one] of all) if (!one.begun) this.#send(one);
    const [only, ...more] = begun;
    if (only !== undefined && more.length === 0) return this.#giveUp(only);
    for (const { mail, given, resolve, reject } of begun) {
      if (given) continue;
      if (mail === undefined) reject(new Error('the judge of incoming mail ended'));
      else this.#aside.judge(mail).then(resolve, reject);
    }
  }

  #giveUp(waiting: Waiting): void {
    const { mail, resolve, reject } = waiting;
    if (mail === undefined) return reject(new Error('the judge of incoming mail ended'));
    this.#suspect([waiting]);
    const { trace, peer, size } = mail;
    const about = { message: trace, ip: peer.ip, size };
    this.#options.log.error(about, 'the checks of a message did not end, it is Junk');
    resolve(unchecked(mail));
  }

  #suspect(all: readonly Waiting[]): void {
    this.#suspects.note(
      all.flatMap(({ mail }) => mail?.peer.ip ?? []),
      performance.now(),
    );
  }

  #heard(message: FromJudge): void {
    const { log, meter } = this.#options;
    this.#pulse.heard(performance.now(), message.kind === 'works' ? message.cpu : undefined);
    if (message.kind === 'works') return;
    if (message.kind === 'begun') {
      const waiting = this.#waiting.get(message.id);
      if (waiting !== undefined) waiting.begun = true;
      return;
    }
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
