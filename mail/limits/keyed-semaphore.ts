import type { Permit } from './semaphore.ts';

/** Keys of an acquisition, one per dimension: `{ host: 'a.example', organization: 7 }`. */
export type SemaphoreKeys<Dimension extends string> = Readonly<Record<Dimension, string | number>>;

type Counts<Dimension extends string> = Readonly<Record<Dimension, Map<string | number, number>>>;

/**
 * Limits concurrent acquisitions, per key in each dimension and in total. Never waits. Stores only keys with permits held,
 * so its memory is bounded by them.
 */
export class KeyedSemaphore<Dimension extends string> {
  readonly #limits: readonly (readonly [Dimension, number])[];
  readonly #total: number;
  readonly #counts: Counts<Dimension>;
  #held = 0;

  /** `limits`: permits per key, by dimension. `total`: permits in total. */
  constructor(limits: Readonly<Record<Dimension, number>>, total = Infinity) {
    this.#limits = Object.entries(limits) as [Dimension, number][];
    this.#total = total;
    this.#counts = Object.fromEntries(this.#limits.map(([name]) => [name, new Map()])) as Counts<Dimension>;
  }

  get held(): number {
    return this.#held;
  }

  get isFull(): boolean {
    return this.#held >= this.#total;
  }

  /** Stored keys of all dimensions. */
  get size(): number {
    return this.#limits.reduce((sum, [name]) => sum + this.#counts[name].size, 0);
  }

  count(dimension: Dimension, key: string | number): number {
    return this.#counts[dimension].get(key) ?? 0;
  }

  /** A permit to dispose of; undefined when one of the limits is reached. */
  tryAcquire(keys: SemaphoreKeys<Dimension>): Permit | undefined {
    if (this.isFull || this.#limits.some(([name, limit]) => this.count(name, keys[name]) >= limit)) return undefined;
    this.#add(keys, 1);
    let released = false;
    const release = (): void => {
      if (!released) this.release(keys);
      released = true;
    };
    return { [Symbol.dispose]: release };
  }

  /** Releases one acquisition of these keys, for a holder without the permit. */
  release(keys: SemaphoreKeys<Dimension>): void {
    this.#add(keys, -1);
  }

  #add(keys: SemaphoreKeys<Dimension>, by: 1 | -1): void {
    this.#held += by;
    for (const [name] of this.#limits) {
      const count = this.count(name, keys[name]) + by;
      if (count > 0) this.#counts[name].set(keys[name], count);
      else this.#counts[name].delete(keys[name]);
    }
  }
}
