import { lruMap } from '../limits/lru-map.ts';
import { senderNetwork } from '../policy/sender-network.ts';

const HOUR_MS = 3_600_000;
/** Crashes within an hour after which mail of a network is not checked any more. */
const MAX_CRASHES = 3;
/** Networks in memory; the least recently seen is evicted. */
const MAX_NETWORKS = 10_000;

/** Networks whose mail crashed the filter: a message that is sent repeatedly must not block the mail of everybody else. */
export class CrashingNetworks {
  /** Times of the last crashes by network, ms. */
  readonly #failures = lruMap<string, readonly number[]>(MAX_NETWORKS);

  /** Records that mail of this peer, and no other, ended the filter thread. */
  record(peer: string, now: number): void {
    const key = senderNetwork(peer);
    // A private address may be a proxy that hides all clients.
    if (key === '') return;
    const before = this.#failures.get(key) ?? [];
    this.#failures.set(key, [...before, now].slice(-MAX_CRASHES));
  }

  isBlocked(peer: string, now: number): boolean {
    const failures = this.#failures.get(senderNetwork(peer)) ?? [];
    const [first] = failures;
    return failures.length === MAX_CRASHES && first !== undefined && now - first < HOUR_MS;
  }
}
