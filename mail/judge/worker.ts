import { Worker } from 'node:worker_threads';
import type { Log } from '../log.ts';
import type { FromJudge, ToJudge } from './messages.ts';
import { Pulse } from './pulse.ts';

/** A thread that works says so again and again; one that says nothing for so long waits for something that does not come. */
const SILENCE_MS = 15_000;
/** One that says nothing and has had so much of a processor meanwhile is in a loop. */
const CPU_MS = 2_000;
/** Before a thread that was asked to close is ended. */
const CLOSE_MS = 1_000;
/** One message must not cost the process its memory; and what is young goes soon, as little of a message is kept. */
const MOST_MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };

/** Why a thread ended: in a loop, by all the memory that it may have, by an error, or waiting for what did not come. */
export type End = 'loop' | 'memory' | 'crash' | 'silence';

export interface JudgeWorkerOptions {
  /** The module that calls `runJudgeThread`, the composition root of the thread. */
  thread: URL;
  /** What that module is told; plain data. */
  settings: unknown;
  log: Log;
  /** ms. */
  silenceMs?: number;
  cpuMs?: number;
}

interface Listener {
  heard(message: FromJudge): void;
  /** Comes last, after all that the thread said. */
  ended(why: End): void;
}

/** One thread of the judge, from its start to its end, as the main thread has it. */
export class JudgeWorker {
  readonly #worker: Worker;
  readonly #options: JudgeWorkerOptions;
  readonly #listener: Listener;
  readonly #pulse = new Pulse();
  /** What it was asked and has not answered. */
  #open = 0;
  #begun = 0;
  #why: End = 'crash';

  constructor(options: JudgeWorkerOptions, listener: Listener) {
    const { thread, settings, log } = options;
    this.#options = options;
    this.#listener = listener;
    const worker = new Worker(thread, { workerData: settings, name: 'judge', resourceLimits: MOST_MEMORY });
    worker.unref();
    worker.on('message', (message: FromJudge) => this.#heard(message));
    worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') this.#why = 'memory';
      log.error({ err: error }, 'the thread that judges incoming mail failed');
    });
    worker.on('exit', () => listener.ended(this.#why));
    this.#worker = worker;
  }

  /** How many it has begun with since it started, also those that it is done with. */
  get begun(): number {
    return this.#begun;
  }

  post(message: ToJudge): void {
    if (this.#open++ === 0) this.#pulse.heard(performance.now());
    this.#worker.postMessage(message);
  }

  /** To be called from time to time while it has something to do: ends it when it does not get on. */
  look(now: number): void {
    const { silenceMs = SILENCE_MS, cpuMs = CPU_MS } = this.#options;
    const silence = this.#pulse.silence(now);
    if (silence > silenceMs) this.end('silence');
    else if (silence > cpuMs) void this.#endLoop(cpuMs);
  }

  end(why: End): void {
    this.#why = why;
    void this.#worker.terminate();
  }

  /** Resolves when it has ended, soon, whatever it does. */
  async close(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.postMessage({ kind: 'close' } satisfies ToJudge);
    const impatient = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    await ended;
    clearTimeout(impatient);
  }

  async #endLoop(cpuMs: number): Promise<void> {
    if (await this.#pulse.hasSpent(this.#worker, cpuMs)) this.end('loop');
  }

  #heard(message: FromJudge): void {
    const { kind } = message;
    this.#pulse.heard(performance.now(), kind === 'works' ? message.cpu : undefined);
    if (kind === 'begun') this.#begun++;
    if (kind === 'answer' || kind === 'failed') this.#open--;
    this.#listener.heard(message);
  }
}
