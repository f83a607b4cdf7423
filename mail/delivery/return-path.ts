import type { KeyObject } from 'node:crypto';
import { isSrsLocalPart } from '../forwarder/srs.ts';
import { lruMap } from '../limits/lru-map.ts';
import type { Address } from '../message/address.ts';
import { reportAddress } from '../message/report-address.ts';
import { receives } from '../store/address/domain.ts';
import type { Store } from '../store/engine/types.ts';

/** Cache time of the check that a domain's mail arrives here, ms. A report that is not matched for that long does no harm. */
const CACHE_MS = 5000;
/** Domains. */
const MAX_CACHED = 1000;

/**
 * Return paths of sent copies (VERP): an address per copy for its reports, in the same domain, so that SPF and DMARC are not
 * affected. Unchanged if reports would not arrive here (unverified domains, wrong MX), and for SRS senders of forwards.
 */
export class ReturnPaths {
  readonly #store: Pick<Store, 'read'>;
  readonly #key: KeyObject;
  readonly #clock: () => number;
  readonly #cache = lruMap<string, { at: number; receivesHere: Promise<boolean> }>(MAX_CACHED);

  /** `clock` gives ms UTC. */
  constructor(store: Pick<Store, 'read'>, key: KeyObject, clock: () => number) {
    this.#store = store;
    this.#key = key;
    this.#clock = clock;
  }

  /** Rejects when the store cannot be read. */
  async find({ id, sender }: { id: number; sender: Address | undefined }): Promise<Address | undefined> {
    if (sender === undefined || isSrsLocalPart(sender.local)) return sender;
    return (await this.#receivesHere(sender.domain)) ? reportAddress(sender, id, this.#key) : sender;
  }

  #receivesHere(name: string): Promise<boolean> {
    const now = this.#clock();
    const cached = this.#cache.get(name);
    if (cached !== undefined && Math.abs(now - cached.at) < CACHE_MS) return cached.receivesHere;
    const receivesHere = this.#store.read(receives, { name });
    this.#cache.set(name, { at: now, receivesHere });
    receivesHere.catch(() => this.#cache.delete(name)); // a failure is not remembered
    return receivesHere;
  }
}
