import { lruMap } from './lru-map.ts';

export interface TokenBucketOptions {
  /** Tokens of a full bucket. */
  capacity: number;
  /** Time in which an empty bucket is filled, ms. */
  periodMs: number;
  /** `continuous`: token by token. `interval`: all at once, a period after the first use. */
  refill: 'continuous' | 'interval';
}

/** Stored keys; the least recently used is evicted. About 150 octets each. */
const MAX_KEYS = 50_000;

export function perMinute(capacity: number): TokenBucketOptions {
  return { capacity, periodMs: 60_000, refill: 'interval' };
}

export function perHour(capacity: number): TokenBucketOptions {
  return { capacity, periodMs: 3_600_000, refill: 'interval' };
}

/** The value of Retry-After for a wait in ms. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.ceil(waitMs / 1000);
}

/** A rate limit. Times are ms of one clock; setting the clock back never causes long waits. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #tokens: number;
  /** The last refill, or the first use since. */
  #since = -Infinity;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#tokens = options.capacity;
  }

  /** Takes a token and returns 0, or returns the ms until one is available. */
  take(now: number): number {
    const wait = this.wait(now);
    if (wait === 0) this.spend(1, now);
    return wait;
  }

  /** The ms until a token is available; 0: now. */
  wait(now: number): number {
    this.#refill(now);
    if (this.#tokens >= 1) return 0;
    const { capacity, periodMs, refill } = this.#options;
    const refillAt = refill === 'interval' ? periodMs : ((1 - this.#tokens) * periodMs) / capacity;
    return Math.ceil(this.#since + refillAt - now);
  }

  /** Takes tokens for past use, also more than are available. */
  spend(tokens: number, now: number): void {
    this.#refill(now);
    if (this.#tokens === this.#options.capacity) this.#since = now;
    this.#tokens -= tokens;
  }

  #refill(now: number): void {
    const { capacity, periodMs, refill } = this.#options;
    const elapsed = now - this.#since;
    if (elapsed >= periodMs || elapsed < -periodMs) this.#tokens = capacity;
    else if (refill === 'interval') return;
    else this.#tokens = Math.min(capacity, this.#tokens + (Math.max(0, elapsed) * capacity) / periodMs);
    this.#since = now;
  }
}

/** A {@link TokenBucket} per key, in memory, so that a flood causes no writes. */
export class KeyedTokenBucket<K extends string | number = string> {
  readonly #options: TokenBucketOptions;
  readonly #buckets;

  constructor(options: TokenBucketOptions, maxKeys = MAX_KEYS) {
    this.#options = options;
    this.#buckets = lruMap<K, TokenBucket>(maxKeys);
  }

  /** Stored keys. */
  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token of a key and returns 0, or returns the ms until one is available. */
  take(key: K, now: number): number {
    return this.#bucket(key).take(now);
  }

  /** The ms until a key has a token; takes none. */
  wait(key: K, now: number): number {
    return this.#buckets.get(key)?.wait(now) ?? 0;
  }

  spend(key: K, tokens: number, now: number): void {
    this.#bucket(key).spend(tokens, now);
  }

  #bucket(key: K): TokenBucket {
    const known = this.#buckets.get(key);
    if (known !== undefined) return known;
    const bucket = new TokenBucket(this.#options);
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
