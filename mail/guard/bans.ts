import type { LRUCache } from 'lru-cache';
import { lruMap } from '../limits/lru-map.ts';
import type { Ban } from '../store/limit/ban.ts';

/** Active bans by network, in memory: looked up at every connection. */
export class Bans {
  readonly #bans: LRUCache<string, Ban>;

  /** `capacity`: bans in memory; the least recently used is evicted. */
  constructor(capacity: number) {
    this.#bans = lruMap(capacity);
  }

  get size(): number {
    return this.#bans.size;
  }

  /** The active ban of a network. */
  get(network: string, now: number): Ban | undefined {
    const ban = this.#bans.get(network);
    if (ban === undefined || ban.until > now) return ban;
    this.#bans.delete(network);
    return undefined;
  }

  set(ban: Ban): void {
    this.#bans.set(ban.network, ban);
  }

  delete(network: string): void {
    this.#bans.delete(network);
  }
}
