import { nextSnoozeStep, returnSnoozed } from '../store/message/snooze.ts';
import type { MailStore } from '../store/store.ts';
import type { Job } from './scheduler.ts';

/** Brings snoozed messages back at their time, at the start those whose time came while the box was off. */
export class SnoozeReturn implements Job {
  readonly name = 'snooze-return';
  readonly everyMs = 10_000;
  readonly firstMs = 50;
  readonly backoffMs = 10_000;
  readonly #store: MailStore;
  readonly #clock: () => number;

  constructor(store: MailStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Takes every due step. Returns the time of the next one, ms UTC. */
  async run(stop?: AbortSignal): Promise<number | undefined> {
    for (;;) {
      const next = await this.#store.read(nextSnoozeStep, undefined);
      if (stop?.aborted === true || next === undefined || next > this.#clock()) return next;
      await this.#store.writeSlice(returnSnoozed, undefined);
    }
  }
}
