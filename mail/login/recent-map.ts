/** A map of at most `limit` entries that forgets first what was set longest ago. */
export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Sets a value and makes it the youngest. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Forgets the oldest entries for as long as `stale` says so; what is set in order of time is purged in its own cost. */
  purge(stale: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) {
      if (!stale(value)) return;
      this.#entries.delete(key);
    }
  }

  /** Forgets every entry that `gone` names. Linear in the size of the map. */
  drop(gone: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) if (gone(value)) this.#entries.delete(key);
  }
}
