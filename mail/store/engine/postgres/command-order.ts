/**
 * Order of the commands of a batch. A command that keeps to accounts follows those before it that share one with it; any
 * other follows all before it, and is followed by all behind it.
 */
export class CommandOrder {
  /** Ends with the last command that keeps to no account. */
  #barrier: Promise<unknown> = Promise.resolve();
  /** The last command of each account behind it. */
  readonly #last = new Map<number, Promise<unknown>>();

  /** Starts `work`, which never rejects, when it is its turn. `accounts`: empty if it keeps to none. */
  add<T>(accounts: readonly number[] = [], work: () => Promise<T>): Promise<T> {
    const keepsToNone = accounts.length === 0;
    const before = keepsToNone ? [...this.#last.values()] : accounts.map((one) => this.#last.get(one));
    const done = Promise.all([this.#barrier, ...before]).then(work);
    if (keepsToNone) {
      this.#barrier = done;
      this.#last.clear();
    } else for (const account of accounts) this.#last.set(account, done);
    return done;
  }
}
