import type { LRUCache } from 'lru-cache';
import { lruMap } from '../limits/lru-map.ts';
import type { Dmarc } from './authentication.ts';
import type { DmarcRecord } from './dmarc-record.ts';

/** Policy of an author's domain when DNS last answered. */
export interface DomainPolicy extends Pick<Dmarc, 'policy' | 'organization'> {
  strict: DmarcRecord['strict'];
}

const MAX_DOMAINS = 5000;
/** Domains with an enforcing policy do not withdraw it within days. */
const TTL_MS = 7 * 24 * 3600 * 1000;

/**
 * Caches enforcing DMARC policies beyond the TTL of their records, for use while DNS fails. Domains with `p=none` are
 * not cached.
 */
export class DmarcPolicyCache {
  readonly #known: LRUCache<string, DomainPolicy>;

  /** `now`: monotonic clock, ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#known = lruMap(MAX_DOMAINS, { ms: TTL_MS, now });
  }

  get size(): number {
    return this.#known.size;
  }

  record(domain: string, found: DomainPolicy): void {
    const { policy, organization, strict } = found;
    if (policy === 'none') this.#known.delete(domain);
    else this.#known.set(domain, { policy, organization, strict });
  }

  get(domain: string): DomainPolicy | undefined {
    return this.#known.get(domain);
  }
}
