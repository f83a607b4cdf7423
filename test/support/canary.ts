import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Box } from './box.ts';

const EVERY_MS = 100;

/** Delay of other requests during heavy work, in ms. */
export interface Waits {
  queried: number;
  p99: number;
  longest: number;
}

/** Asks SMTP, IMAP and HTTP every 100 ms on connections of its own, from a thread that the test does not hold up. */
export class Canary implements Disposable {
  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  static async watch(box: Box): Promise<Canary> {
    const ports = { smtp: box.port('smtp'), imap: box.port('imap'), http: box.port('http') };
    const thread = new Worker(new URL('./canary-thread.ts', import.meta.url), {
      workerData: { ports, every: EVERY_MS },
    });
    await once(thread, 'message');
    return new Canary(thread);
  }

  [Symbol.dispose](): void {
    void this.#thread.terminate();
  }

  /** Ends it and answers for each of the three. */
  async end(): Promise<Record<'smtp' | 'imap' | 'http', Waits>> {
    this.#thread.postMessage('end');
    const [[smtp = [], imap = [], http = []]] = (await once(this.#thread, 'message')) as [number[][]];
    return { smtp: waits(smtp), imap: waits(imap), http: waits(http) };
  }
}

function waits(all: readonly number[]): Waits {
  const sorted = all.toSorted((a, b) => a - b);
  return {
    queried: sorted.length,
    p99: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0),
    longest: Math.round(sorted.at(-1) ?? 0),
  };
}
