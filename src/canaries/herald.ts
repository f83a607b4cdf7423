import type { Log, Meter } from '../../mail/log.ts';
import { untoldTrips, type UntoldTrip } from '../../mail/store/canary.ts';
import type { OwnerPost } from '../agents/owner-letters.ts';
import { Rounds } from '../letters/rounds.ts';
import { tripLetters } from './letter.ts';
import { tellTrips } from './tell-commands.ts';

const EVERY_MS = 5_000;
const TOGETHER = 50;

export type HeraldOptions = OwnerPost & {
  /** A letter was queued. */
  queued: () => void;
  metrics: Meter;
  log: Log;
};

/** Writes to owners who went to their canaries: one letter with all of a round, also of those before this start. */
export class CanaryHerald implements AsyncDisposable {
  readonly #options: HeraldOptions;
  readonly #rounds: Rounds;

  constructor(options: HeraldOptions) {
    const failed = 'owners could not be told of their canaries, it is tried again';
    this.#options = options;
    this.#rounds = new Rounds({ round: () => this.run(), everyMs: EVERY_MS, failed, log: options.log });
  }

  /** Tells of all that nobody was told of. */
  async run(): Promise<void> {
    const trips = await this.#options.store.read(untoldTrips, { limit: TOGETHER });
    for (const [tenant, some] of Map.groupBy(trips, (one) => one.tenant)) {
      if (this.#rounds.closing) return;
      await this.#tell(tenant, some);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#rounds[Symbol.asyncDispose]();
  }

  async #tell(tenant: number, trips: readonly UntoldTrip[]): Promise<void> {
    const { store, queued, log, metrics } = this.#options;
    const letters = await tripLetters(this.#options, tenant, trips);
    const { told } = await store.write(tellTrips, { tenant, trips, letters });
    if (told === 0) return;
    const written = trips.filter(({ credential }) => credential === '').length;
    if (written > 0) metrics.count('canary_trips_total', { what: 'written-to' }, written);
    log.warn({ organization: tenant, told, letters: letters.length }, 'somebody went to a canary');
    if (letters.length > 0) queued();
  }
}
