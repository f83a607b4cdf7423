import { networkOf } from '../../mail/guard/network.ts';
import type { Gate } from '../../mail/guard/types.ts';
import { RateLimit } from '../../mail/guard/rate-limit.ts';

/** The limits of the HTTP doors, shared by MCP and REST: a second door is no second allowance. */
export class HttpLimits {
  readonly #anonymous = new RateLimit(100);
  readonly #token = new RateLimit(6_000);
  readonly #free: (ip: string) => boolean;
  readonly #guard: Pick<Gate, 'welcome'>;

  /** `free` are peers that are not counted: exempt networks, and loopback in local mode. */
  constructor(free: (ip: string) => boolean, guard: Pick<Gate, 'welcome'>) {
    this.#free = free;
    this.#guard = guard;
  }

  /** Whether a peer is not counted. */
  isFree(ip: string): boolean {
    return this.#free(ip);
  }

  /** Seconds to wait, or 0. `token` is the id of the token or key that was presented and holds: its holder belongs here. */
  take(ip: string, token: number | string | undefined, now: number): number {
    if (token !== undefined) this.#guard.welcome(ip);
    if (this.#free(ip)) return 0;
    return token === undefined ? this.#anonymous.take(networkOf(ip), now) : this.#token.take(String(token), now);
  }
}
