/** How many things each caller has under way, bounded. */
export class AtOnce {
  readonly #most: number;
  readonly #busy = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place for `who`, given back at the end of the block; undefined when all are taken. */
  enter(who: string): Disposable | undefined {
    const busy = this.#busy.get(who) ?? 0;
    if (busy >= this.#most) return undefined;
    this.#busy.set(who, busy + 1);
    return { [Symbol.dispose]: () => this.#leave(who) };
  }

  #leave(who: string): void {
    const busy = (this.#busy.get(who) ?? 1) - 1;
    if (busy === 0) this.#busy.delete(who);
    else this.#busy.set(who, busy);
  }
}
