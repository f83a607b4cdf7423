/**
 * A map of at most `limit` entries that forgets what was set longest ago. It keeps two generations and drops the older
 * one whole: deleting the oldest key of a Map again and again walks over all holes that were left before it.
 */
export class RecentMap<K, V> {
  readonly #half: number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  /** The value set last in each generation. */
  #youngest: V | undefined;
  #oldYoungest: V | undefined;

  constructor(limit: number) {
    this.#half = Math.max(1, Math.floor(limit / 2));
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** Sets a value and makes it the youngest. */
  set(key: K, value: V): void {
    this.#old.delete(key);
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#oldYoungest = this.#youngest;
      this.#young = new Map();
    }
    this.#young.set(key, value);
    this.#youngest = value;
  }

  delete(key: K): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Forgets each generation whose youngest value is stale. For values that grow stale in the order they were set. */
  purge(stale: (value: V) => boolean): void {
    if (this.#oldYoungest !== undefined && stale(this.#oldYoungest)) {
      this.#old = new Map();
      this.#oldYoungest = undefined;
    }
    if (this.#youngest !== undefined && stale(this.#youngest)) {
      this.#young = new Map();
      this.#youngest = undefined;
    }
  }

  /** Forgets every entry that `gone` names. Linear in the size of the map. */
  drop(gone: (value: V, key: K) => boolean): void {
    for (const map of [this.#young, this.#old]) {
      for (const [key, value] of map) if (gone(value, key)) map.delete(key);
    }
  }
}
