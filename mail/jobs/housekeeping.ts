import type { Log } from '../log.ts';
import { namedFiles } from '../store/content.ts';
import type { MailStore } from '../store/store.ts';
import {
  emptyGoneMailbox,
  forgetExpunged,
  forgetHistory,
  goneMailboxes,
  KEEP_EXPUNGED_MS,
  KEEP_HISTORY_MS,
} from '../store/tidy.ts';

const EVERY_MS = 10 * 60_000;
/** The first round waits until the start is over, with its doors and its first clients. */
const FIRST_MS = 60_000;

/** What has to be tidied now and then, in slices behind everybody's work. */
export class Housekeeping implements AsyncDisposable {
  readonly #store: MailStore;
  readonly #clock: () => number;
  readonly #log: Log;
  readonly #began: number;
  #timer: NodeJS.Timeout;
  #round: Promise<void> | undefined;
  #closing = false;
  #swept = false;

  constructor(store: MailStore, clock: () => number, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#began = Date.now();
    this.#timer = this.#later(FIRST_MS);
  }

  /** One whole round now. */
  async run(): Promise<void> {
    await this.#emptyMailboxes();
    await this.#forget();
    if (!this.#swept) await this.#sweep();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.#round;
  }

  #later(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#round = this.run()
        .catch((error: unknown) => this.#log.error({ err: error }, 'housekeeping failed, it goes on at its next round'))
        .finally(() => {
          if (!this.#closing) this.#timer = this.#later(EVERY_MS);
        });
    }, ms).unref();
  }

  async #emptyMailboxes(): Promise<void> {
    for (const { id, account_id } of await this.#store.read(goneMailboxes, undefined)) {
      let left = 1;
      while (left > 0 && !this.#closing) {
        left = await this.#store.writeSlice(emptyGoneMailbox, { account: account_id, mailbox: id });
      }
    }
  }

  async #forget(): Promise<void> {
    let more = true;
    while (more && !this.#closing) {
      const done = await this.#store.writeSlice(forgetExpunged, { before: this.#clock() - KEEP_EXPUNGED_MS });
      // After the commit: a crash before this leaves files that the sweep finds.
      for (const file of done.files) await this.#store.files.remove(file);
      more = done.more;
    }
    while (
      !this.#closing &&
      (await this.#store.writeSlice(forgetHistory, { before: this.#clock() - KEEP_HISTORY_MS }))
    );
  }

  async #sweep(): Promise<void> {
    const named = async (files: string[]): Promise<Set<string>> =>
      new Set(await this.#store.read(namedFiles, { files }));
    const removed = await this.#store.files.sweep(named, this.#began);
    this.#swept = true;
    if (removed > 0) this.#log.info({ removed }, 'removed files of messages that were never accepted');
  }
}
