import { networkOf } from '../../mail/guard/network.ts';
import type { ConnectionGuard } from '../../mail/guard/types.ts';
import { KeyedTokenBucket, perMinute, retryAfterSeconds } from '../../mail/limits/token-bucket.ts';

/** Rate limits of HTTP, shared by MCP and REST: requests per minute by address, and by token or key. */
export class HttpLimits {
  readonly #anonymous = new KeyedTokenBucket(perMinute(100));
  readonly #token = new KeyedTokenBucket(perMinute(6_000));
  readonly #free: (ip: string) => boolean;
  readonly #guard: Pick<ConnectionGuard, 'welcome'>;

  /** `free` selects exempt peers: exempt networks, and loopback in local mode. */
  constructor(free: (ip: string) => boolean, guard: Pick<ConnectionGuard, 'welcome'>) {
    this.#free = free;
    this.#guard = guard;
  }

  /** True if the peer is exempt. */
  isFree(ip: string): boolean {
    return this.#free(ip);
  }

  /** Seconds to wait, or 0. `token` is the id of a valid token or key; it clears the address's offences. */
  take(ip: string, token: number | string | undefined, now: number): number {
    if (token !== undefined) this.#guard.welcome(ip);
    if (this.#free(ip)) return 0;
    const waitMs =
      token === undefined ? this.#anonymous.take(networkOf(ip), now) : this.#token.take(String(token), now);
    return retryAfterSeconds(waitMs);
  }
}
