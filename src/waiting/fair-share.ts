/** Shares of owners in a common limit. Finds the owner with the largest share in constant time. */
export class FairShare<T> {
  readonly #held = new Map<number, Set<T>>();
  /** Owners by the size of their share. */
  readonly #holding: Set<number>[] = [];
  #most = 0;
  #count = 0;

  /** Total of all shares. */
  get count(): number {
    return this.#count;
  }

  add(owner: number, one: T): void {
    const own = this.#held.get(owner) ?? new Set();
    this.#held.set(owner, own.add(one));
    this.#count++;
    this.#moved(owner, own.size - 1, own.size);
  }

  /** Returns true if the owner held it. */
  remove(owner: number, one: T): boolean {
    const own = this.#held.get(owner);
    if (own?.delete(one) !== true) return false;
    if (own.size === 0) this.#held.delete(owner);
    this.#count--;
    this.#moved(owner, own.size + 1, own.size);
    return true;
  }

  /**
   * The item to displace for a new one of this owner: the oldest of the owner with the largest share. Undefined when no
   * owner holds at least two more: two owners would displace each other forever.
   */
  oldestOfLargest(newcomer: number): T | undefined {
    const own = this.#held.get(newcomer)?.size ?? 0;
    const [most] = this.#holding[this.#most] ?? [];
    if (most === undefined || this.#most < own + 2) return undefined;
    const [oldest] = this.#held.get(most) ?? [];
    return oldest;
  }

  /** True when an owner can get `count` more if others give up `needed`, without going below its new share. */
  canYield(newcomer: number, count: number, needed: number): boolean {
    const share = (this.#held.get(newcomer)?.size ?? 0) + count;
    if (this.#most <= share) return false;
    let over = 0;
    for (const { size } of this.#held.values()) {
      over += Math.max(0, size - share);
      if (over >= needed) return true;
    }
    return false;
  }

  #moved(owner: number, before: number, now: number): void {
    this.#holding[before]?.delete(owner);
    if (now > 0) (this.#holding[now] ??= new Set()).add(owner);
    this.#most = Math.max(this.#most, now);
    if (this.#holding[this.#most]?.size === 0) this.#most--;
  }
}
