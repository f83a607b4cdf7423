import { dueMessages, type DueMessage, sendScheduled } from '../delivery/schedule.ts';
import type { Log } from '../log.ts';
import { indexMessage } from '../message/indexer.ts';
import type { MailStore } from '../store/store.ts';

/** Looked at this often even when nothing says that something is due: clocks jump, and new ones come in. */
const LONGEST_SLEEP_MS = 10_000;
const SHORTEST_SLEEP_MS = 50;

export interface SchedulerOptions {
  store: MailStore;
  clock: () => number;
  log: Log;
  /** Something was queued. */
  queued: () => void;
}

/** Lets scheduled messages go when their time has come, late ones of a time when nothing ran first. */
export class Scheduler implements AsyncDisposable {
  readonly #options: SchedulerOptions;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#timer = this.#later(SHORTEST_SLEEP_MS);
  }

  /** Everything that is due now. Answers when the next one is, ms UTC. */
  async run(): Promise<number | undefined> {
    const { store, clock } = this.#options;
    for (;;) {
      const { due, next } = await store.read(dueMessages, { now: clock() });
      for (const message of due) await this.#send(message);
      if (due.length === 0 || this.#closing) return next;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  async #send({ id, blob, size }: DueMessage): Promise<void> {
    const { store, queued } = this.#options;
    const index = indexMessage(await store.blob(blob, 0, size));
    const done = await store.write(sendScheduled, { id, index });
    if (done.queued) queued();
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => {
          this.#options.log.error({ err: error }, 'scheduled messages could not be sent');
          return undefined;
        })
        .then((next) => {
          const wait = next === undefined ? LONGEST_SLEEP_MS : next - this.#options.clock();
          const sleep = Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, wait));
          if (!this.#closing) this.#timer = this.#later(sleep);
        });
    }, ms).unref();
  }
}
