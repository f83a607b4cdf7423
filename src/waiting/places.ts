/** Things that owners hold, each a place of a number that all share. To know who has the most costs no look at them all. */
export class Places<T> {
  readonly #held = new Map<number, Set<T>>();
  /** The owners that hold so many, by how many. */
  readonly #holding: Set<number>[] = [];
  #most = 0;
  #count = 0;

  /** How many are held in all. */
  get count(): number {
    return this.#count;
  }

  take(owner: number, one: T): void {
    const own = this.#held.get(owner) ?? new Set();
    this.#held.set(owner, own.add(one));
    this.#count++;
    this.#moved(owner, own.size - 1, own.size);
  }

  /** Answers whether it was held. */
  leave(owner: number, one: T): boolean {
    const own = this.#held.get(owner);
    if (own?.delete(one) !== true) return false;
    if (own.size === 0) this.#held.delete(owner);
    this.#count--;
    this.#moved(owner, own.size + 1, own.size);
    return true;
  }

  /**
   * What has to leave for one more of this owner: the oldest of whoever holds the most. Undefined where nobody holds two
   * more than this owner does: both would push one another out for ever.
   */
  oldestOfMost(newcomer: number): T | undefined {
    const own = this.#held.get(newcomer)?.size ?? 0;
    const [most] = this.#holding[this.#most] ?? [];
    if (most === undefined || this.#most < own + 2) return undefined;
    const [oldest] = this.#held.get(most) ?? [];
    return oldest;
  }

  /** Whether an owner can get `count` more of which others give up `needed`, down to as many as it has then. */
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
