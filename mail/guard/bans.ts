import type { Ban } from '../store/ban.ts';

/** Bans that hold, by network, in memory: asked at every connection. */
export class Bans {
  readonly #most: number;
  readonly #bans = new Map<string, Ban>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#bans.size;
  }

  /** The ban that holds now. */
  get(network: string, now: number): Ban | undefined {
    const ban = this.#bans.get(network);
    if (ban === undefined || ban.until > now) return ban;
    this.#bans.delete(network);
    return undefined;
  }

  set(ban: Ban): void {
    this.#bans.delete(ban.network);
    const [oldest] = this.#bans.size >= this.#most ? this.#bans.keys() : [];
    if (oldest !== undefined) this.#bans.delete(oldest);
    this.#bans.set(ban.network, ban);
  }

  delete(network: string): void {
    this.#bans.delete(network);
  }
}
