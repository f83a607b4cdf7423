import type { SentTrip, Tripped } from '../../mail/delivery/agent/types.ts';
import { ShownForms, type ShownSearch } from '../../mail/delivery/agent/secrets/shown-form.ts';
import type { Log, Meter } from '../../mail/log.ts';
import { canaryForms, canaryMessages, canaryOf, type TripKind } from '../../mail/store/canary.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { honeytokensIn, OVERLAP } from './honeytokens-in.ts';
import { freshTrips } from './queries.ts';
import { tripCanaries } from './trip-commands.ts';

interface Needs {
  store: MailStore;
  meter: Meter;
  log: Log;
  /** Under which honeytokens are remembered. */
  key: Uint8Array;
}

interface Trip {
  door: string;
  what: TripKind;
  /** Addresses. */
  about: readonly string[];
}

/** Public id of a token, or of the mailbox whose password an agent has; undefined: it is a person. */
type Who = () => Promise<string | undefined>;

/**
 * Stops agents that go to canaries. Each promise resolves when the agent is frozen and that is on disk: only then may what
 * it asked for be answered.
 */
export class Canaries {
  readonly #store: MailStore;
  readonly #meter: Meter;
  readonly #log: Log;
  readonly #forms: ShownForms;

  constructor({ store, meter, log, key }: Needs) {
    this.#store = store;
    this.#meter = meter;
    this.#log = log;
    this.#forms = new ShownForms(key);
  }

  /** Somebody is about to be shown what messages of an account say, beyond the line of a list. */
  async opened(
    who: Who,
    { account, emails, door }: { account: number; emails: readonly number[]; door: string },
  ): Promise<void> {
    const canaries = await this.#store.read(canaryMessages, { account, emails });
    if (canaries.length === 0) return;
    const credential = await who();
    if (credential !== undefined) await this.#trip(credential, canaries, { door, what: 'opened', about: [] });
  }

  /** A token is about to be shown an answer, whatever it is about. */
  async shown(credential: string, answer: unknown, { tenant, door }: { tenant: number; door: string }): Promise<void> {
    const search = await this.#search(tenant);
    if (search !== undefined) await this.#found(credential, await honeytokensIn(answer, search), door);
  }

  /** The same of octets on their way, piece by piece, as they stand. */
  async *passing(
    credential: string,
    octets: AsyncIterable<Buffer>,
    { tenant, door }: { tenant: number; door: string },
  ): AsyncIterable<Buffer> {
    const search = await this.#search(tenant);
    let end = '';
    for await (const piece of octets) {
      if (search !== undefined) {
        const text = end + piece.toString('latin1');
        await this.#found(credential, await honeytokensIn(text, search), door);
        end = text.slice(-OVERLAP);
      }
      yield piece;
    }
  }

  async #search(tenant: number): Promise<ShownSearch | undefined> {
    const forms = await this.#store.read(canaryForms, { tenant });
    return forms.length === 0 ? undefined : this.#forms.search(forms);
  }

  async #found(credential: string, marks: readonly string[], door: string): Promise<void> {
    const canaries = marks.map(canaryOf).filter((id) => id !== undefined);
    if (canaries.length > 0) await this.#trip(credential, canaries, { door, what: 'shown', about: [] });
  }

  /** Mail of an agent would carry them off. */
  sent(credential: string, { canaries, door, recipients }: SentTrip): Promise<Tripped> {
    return this.#trip(credential, canaries, { door, what: 'sent', about: recipients });
  }

  async #trip(credential: string, canaries: readonly number[], { door, what, about }: Trip): Promise<Tripped> {
    const fresh = await this.#store.read(freshTrips, { canaries, credential });
    if (fresh.length === 0) return 'known';
    const ids = fresh.map(({ canary }) => canary);
    const { tripped } = await this.#store.write(tripCanaries, { credential, canaries: ids, door, what, about });
    if (tripped === 0) return 'known';
    this.#meter.count('canary_trips_total', { what }, tripped);
    this.#log.warn({ credential, door, what, canaries: ids }, 'an agent went to a canary and is frozen');
    return 'stopped';
  }
}
