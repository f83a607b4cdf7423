import type { Log } from '../log.ts';
import { nextClaimEnd } from '../store/claim.ts';
import { freeClaims } from '../store/claim-commands.ts';
import type { MailStore } from '../store/store.ts';

/** Looked at this often even when nothing ends: clocks jump, and new ones come in. */
const LONGEST_SLEEP_MS = 10_000;
const SHORTEST_SLEEP_MS = 50;

/** Frees conversations when the time of their claims is over, at once those whose time was over when nothing ran. */
export class ClaimEnd implements AsyncDisposable {
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #log: Log;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;

  constructor(store: MailStore, clock: () => number, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#timer = this.#later(SHORTEST_SLEEP_MS);
  }

  /** Everything whose time is over. Answers when the next one's is, ms UTC. */
  async run(): Promise<number | undefined> {
    for (;;) {
      const next = await this.#store.read(nextClaimEnd, undefined);
      if (this.#closing || next === undefined || next > this.#clock()) return next;
      await this.#store.writeSlice(freeClaims, undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => {
          this.#log.warn({ err: error }, 'claims whose time is over could not be freed, it is tried again');
          return undefined;
        })
        .then((next) => {
          const wait = next === undefined ? LONGEST_SLEEP_MS : next - this.#clock();
          const sleep = Math.min(LONGEST_SLEEP_MS, Math.max(SHORTEST_SLEEP_MS, wait));
          if (!this.#closing) this.#timer = this.#later(sleep);
        });
    }, ms).unref();
  }
}
