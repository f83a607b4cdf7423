import type { KeyObject } from 'node:crypto';
import { looksRewritten } from '../forwarder/srs.ts';
import type { Address } from '../message/address.ts';
import { reportAddress } from '../message/report-address.ts';
import { receives } from '../store/domain.ts';
import type { Store } from '../store/engine/types.ts';

/** How long it is believed that a domain's mail comes here, ms: a report that misses its message for so long does no harm. */
const KEEP_MS = 5000;
const MAX_KEPT = 1000;

/**
 * The envelope sender that one copy leaves under: an address of its own for its reports, in the same domain, so that SPF
 * and DMARC see what they would have seen. Left as it is where its reports would not come here: a domain that is not
 * proved or whose records are wrong, and the senders of forwards, which lead back in a way of their own.
 */
export class ReturnPaths {
  readonly #store: Pick<Store, 'read'>;
  readonly #key: KeyObject;
  readonly #clock: () => number;
  readonly #kept = new Map<string, { at: number; comesHere: Promise<boolean> }>();

  /** `clock` gives ms UTC. */
  constructor(store: Pick<Store, 'read'>, key: KeyObject, clock: () => number) {
    this.#store = store;
    this.#key = key;
    this.#clock = clock;
  }

  /** Rejects when the store cannot be read. */
  async of({ id, sender }: { id: number; sender: Address | undefined }): Promise<Address | undefined> {
    if (sender === undefined || looksRewritten(sender.local)) return sender;
    return (await this.#comesHere(sender.domain)) ? reportAddress(sender, id, this.#key) : sender;
  }

  #comesHere(name: string): Promise<boolean> {
    const now = this.#clock();
    const kept = this.#kept.get(name);
    if (kept !== undefined && Math.abs(now - kept.at) < KEEP_MS) return kept.comesHere;
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    const comesHere = this.#store.read(receives, { name });
    this.#kept.set(name, { at: now, comesHere });
    comesHere.catch(() => this.#kept.delete(name)); // a failure is not remembered
    return comesHere;
  }
}
