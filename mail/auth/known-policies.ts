import type { Dmarc } from './authentication.ts';
import type { DmarcRecord } from './dmarc-record.ts';

/** What was found for an author's domain when the DNS last answered. */
export interface KnownPolicy extends Pick<Dmarc, 'policy' | 'organization'> {
  strict: DmarcRecord['strict'];
}

const MOST = 5000;
/** ms. Domains that ask for protection do not take it back within days. */
const GOOD_FOR = 7 * 24 * 3600 * 1000;

/**
 * Remembers which author domains ask for protection, beyond the time to live of their records: it says what the DNS
 * would have said where it does not answer. Domains that ask for nothing are not kept.
 */
export class KnownPolicies {
  /** In order of last use, so that the first is the first to go. */
  readonly #known = new Map<string, { policy: KnownPolicy; until: number }>();
  readonly #now: () => number;

  /** `now`: milliseconds that never jump. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#known.size;
  }

  learn(domain: string, found: KnownPolicy): void {
    this.#known.delete(domain);
    if (found.policy === 'none') return;
    const { policy, organization, strict } = found;
    this.#known.set(domain, { policy: { policy, organization, strict }, until: this.#now() + GOOD_FOR });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST && oldest !== undefined) this.#known.delete(oldest);
  }

  get(domain: string): KnownPolicy | undefined {
    const found = this.#known.get(domain);
    return found !== undefined && found.until > this.#now() ? found.policy : undefined;
  }
}
