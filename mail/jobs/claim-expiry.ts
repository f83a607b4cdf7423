import { nextClaimEnd } from '../agents/claims/claim.ts';
import { freeClaims } from '../agents/claims/commands.ts';
import type { MailStore } from '../store/store.ts';
import type { Job } from './scheduler.ts';

/** Releases expired claims of conversations, at the start those that expired while the box was off. */
export class ClaimExpiry implements Job {
  readonly name = 'claim-expiry';
  readonly everyMs = 10_000;
  readonly firstMs = 50;
  readonly backoffMs = 10_000;
  readonly #store: MailStore;
  readonly #clock: () => number;

  constructor(store: MailStore, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Releases every expired claim. Returns the time of the next expiry, ms UTC. */
  async run(stop?: AbortSignal): Promise<number | undefined> {
    for (;;) {
      const next = await this.#store.read(nextClaimEnd, undefined);
      if (stop?.aborted === true || next === undefined || next > this.#clock()) return next;
      await this.#store.writeSlice(freeClaims, undefined);
    }
  }
}
