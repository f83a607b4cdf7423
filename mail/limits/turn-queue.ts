/** Holders of a queue: tenants, accounts or addresses. */
export type QueueHolder = string | number;

/**
 * A queue in which the holders take turns: who adds much waits for itself. A shift is O(waiting holders) at worst, and
 * takes the first holder that `isFree`.
 */
export class TurnQueue<T> {
  /** In the order of their turns; no holder without items. */
  readonly #items = new Map<QueueHolder, T[]>();
  #size = 0;

  /** Items of all holders. */
  get size(): number {
    return this.#size;
  }

  /** Items of one holder. */
  sizeOf(holder: QueueHolder): number {
    return this.#items.get(holder)?.length ?? 0;
  }

  push(holder: QueueHolder, item: T): void {
    const mine = this.#items.get(holder);
    if (mine === undefined) this.#items.set(holder, [item]);
    else mine.push(item);
    this.#size++;
  }

  /** Removes and returns the oldest item of the holder whose turn it is, and moves the holder to the end. */
  shift(isFree: (holder: QueueHolder) => boolean = () => true): T | undefined {
    for (const [holder, items] of this.#items) {
      if (!isFree(holder)) continue;
      const item = items.shift();
      this.#items.delete(holder);
      if (items.length > 0) this.#items.set(holder, items);
      this.#size--;
      return item;
    }
    return undefined;
  }

  /** Removes and returns all items. */
  clear(): T[] {
    const all = [...this.#items.values()].flat();
    this.#items.clear();
    this.#size = 0;
    return all;
  }
}
