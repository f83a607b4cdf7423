import { Worker } from 'node:worker_threads';
import type { Log, Meter } from '../log.ts';
import type { LessonSource } from '../store/lesson-words.ts';
import { type Arriving, type Judge, JudgeAway, type Judgement } from './judging.ts';
import type { FromJudge, ToJudge } from './messages.ts';

/** A judge that says nothing for so long is stuck: the mail comes again. */
const PATIENCE_MS = 30_000;
/** After a thread has died, before the next one is started. */
const REST_MS = 1_000;
/** One message must not cost the process its memory; and what is young goes soon, as little of a message is kept. */
const MOST_MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

interface Waiting {
  resolve(value: Judgement | number[]): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

export interface JudgeClientOptions {
  /** The module that calls `runJudgeThread`, the composition root of the thread. */
  thread: URL;
  /** What that module is told; plain data. */
  settings: unknown;
  log: Log;
  meter: Meter;
}

/** The main thread's end of the judge, whose thread starts with the first message. */
export class JudgeClient implements Judge, AsyncDisposable {
  readonly #options: JudgeClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #diedAt = -Infinity;
  #id = 0;
  #closed = false;

  constructor(options: JudgeClientOptions) {
    this.#options = options;
  }

  judge(mail: Arriving): Promise<Judgement> {
    const began = performance.now();
    const judged = this.#ask((id) => ({ kind: 'judge', id, mail })) as Promise<Judgement>;
    return judged.finally(() => this.#options.meter.observe('judge_seconds', (performance.now() - began) / 1000));
  }

  /** The words of a stored message, to learn from. */
  words(source: LessonSource): Promise<number[]> {
    return this.#ask((id) => ({ kind: 'words', id, source })) as Promise<number[]>;
  }

  #ask(message: (id: number) => ToJudge): Promise<Judgement | number[]> {
    if (this.#closed || performance.now() - this.#diedAt < REST_MS) {
      return Promise.reject(new JudgeAway('the judge of incoming mail is not there at the moment'));
    }
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#stuck(id), PATIENCE_MS);
      this.#waiting.set(id, { resolve, reject, timer });
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

  /** One that loops holds all others up as well. */
  #stuck(id: number): void {
    this.#take(id)?.reject(new Error('the judge of incoming mail did not answer in time'));
    void this.#worker?.terminate();
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
    for (const id of this.#waiting.keys()) this.#take(id)?.reject(new Error('the judge of incoming mail ended'));
  }

  #heard(message: FromJudge): void {
    const { log, meter } = this.#options;
    if (message.kind === 'said') return log[message.level](message.fields, message.text);
    if (message.kind === 'counted') return meter.count(message.name, message.labels);
    const waiting = this.#take(message.id);
    if (message.kind === 'answer') waiting?.resolve(message.value);
    else waiting?.reject(Object.assign(new Error(message.message), { stack: message.stack }));
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }
}
