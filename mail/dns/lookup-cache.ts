import type { Lookup } from './lookup.ts';

interface Entry {
  lookup: Promise<Lookup<unknown>>;
  /** Until when it is believed, in the cache's own milliseconds; Infinity while it is being asked. */
  until: number;
  /** Characters held, about. */
  weight: number;
}

const MOST_ENTRIES = 20_000;
/** Peers choose how long their records are, so the number of entries alone bounds nothing. */
const MOST_WEIGHT = 8 * 1024 * 1024;

/** Remembers answers of the DNS for as long as they are good, and asks once for all who ask at the same time. */
export class LookupCache {
  /** In order of last use, so that the first is the first to go. */
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;
  #weight = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The answer kept under `key`, or what `ask` answers; `ask` must not reject. */
  get<T>(key: string, ask: () => Promise<{ lookup: Lookup<T>; ttlMs: number }>): Promise<Lookup<T>> {
    const known = this.#entries.get(key);
    if (known !== undefined && known.until > this.#now()) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known.lookup as Promise<Lookup<T>>;
    }
    if (known !== undefined) this.#drop(key, known);
    const entry: Entry = { lookup: Promise.resolve({ kind: 'none', nx: false }), until: Infinity, weight: key.length };
    const lookup = ask().then((answer) => {
      this.#settle(key, entry, answer);
      return answer.lookup;
    });
    entry.lookup = lookup;
    this.#keep(key, entry);
    return lookup;
  }

  #settle(key: string, entry: Entry, { lookup, ttlMs }: { lookup: Lookup<unknown>; ttlMs: number }): void {
    if (this.#entries.get(key) !== entry) return;
    this.#drop(key, entry);
    if (ttlMs <= 0) return;
    entry.until = this.#now() + ttlMs;
    entry.weight = key.length + weigh(lookup);
    this.#keep(key, entry);
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#weight += entry.weight;
    for (const [oldKey, old] of this.#entries) {
      if (this.#entries.size <= MOST_ENTRIES && this.#weight <= MOST_WEIGHT) break;
      this.#drop(oldKey, old);
    }
  }

  #drop(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}

function weigh(lookup: Lookup<unknown>): number {
  if (lookup.kind !== 'found') return 0;
  return lookup.records.reduce<number>((sum, record) => sum + weighRecord(record), 0);
}

function weighRecord(record: unknown): number {
  if (typeof record === 'string') return record.length;
  const data = record instanceof Object && 'data' in record ? record.data : undefined;
  return 64 + (data instanceof Uint8Array ? data.length : 0);
}
