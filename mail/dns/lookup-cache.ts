import { LRUCache } from 'lru-cache';
import { timedBy } from '../limits/lru-map.ts';
import type { Lookup } from './lookup.ts';

/** Total characters. Domain owners choose the length of their records, so a number of entries is not enough. */
const MAX_WEIGHT = 8 * 1024 * 1024;
/** Weight of an entry beside its text, so that fewer than 20,000 fit. */
const ENTRY_WEIGHT = 420;

/** Caches DNS answers for their time to live. Concurrent lookups of one name share one query. */
export class LookupCache {
  readonly #entries: LRUCache<string, Promise<Lookup<unknown>>>;

  /** `now`: monotonic, ms. */
  constructor(now: () => number) {
    this.#entries = new LRUCache({ maxSize: MAX_WEIGHT, ...timedBy(now) });
  }

  /** Returns the cached answer, or that of `query`, which must not reject. */
  get<T>(key: string, query: () => Promise<{ lookup: Lookup<T>; ttlMs: number }>): Promise<Lookup<T>> {
    const cached = this.#entries.get(key);
    if (cached !== undefined) return cached as Promise<Lookup<T>>;
    const pending = query().then(({ lookup, ttlMs }) => {
      // It may have been evicted during the query.
      if (this.#entries.peek(key) === pending) this.#setTtl(key, pending, weightOf(lookup), ttlMs);
      return lookup;
    });
    this.#entries.set(key, pending, { size: ENTRY_WEIGHT + key.length });
    return pending;
  }

  #setTtl(key: string, pending: Promise<Lookup<unknown>>, weight: number, ttlMs: number): void {
    this.#entries.delete(key);
    // The library keeps an entry through its last millisecond.
    if (ttlMs > 1) this.#entries.set(key, pending, { size: ENTRY_WEIGHT + key.length + weight, ttl: ttlMs - 1 });
  }
}

function weightOf(lookup: Lookup<unknown>): number {
  if (lookup.kind !== 'found') return 0;
  return lookup.records.reduce<number>((sum, record) => sum + weightOfRecord(record), 0);
}

function weightOfRecord(record: unknown): number {
  if (typeof record === 'string') return record.length;
  const data = record instanceof Object && 'data' in record ? record.data : undefined;
  return 64 + (data instanceof Uint8Array ? data.length : 0);
}
