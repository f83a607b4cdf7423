/** Runs work of one key in order, and that of different keys at once. */
export class Lanes<K> {
  readonly #last = new Map<K, Promise<void>>();

  /** Number of keys with work. */
  get size(): number {
    return this.#last.size;
  }

  run<T>(key: K, work: () => T | Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const ended = mine.then(nothing, nothing).then(() => {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    });
    this.#last.set(key, ended);
    return mine;
  }
}

const nothing = (): void => undefined;
