/** Open connections by credential. When one has too many, the one that was opened first goes: dead phones hold theirs. */
export class Crowd {
  readonly #most: number;
  readonly #open = new Map<string, Set<() => void>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** `end` is called when the connection must make room. Answers the function to call when it has ended. */
  enter(who: string, end: () => void): () => void {
    const open = this.#open.get(who) ?? new Set();
    this.#open.set(who, open.add(end));
    const [oldest] = open;
    if (open.size > this.#most && oldest !== undefined) {
      open.delete(oldest);
      oldest();
    }
    return () => {
      open.delete(end);
      if (open.size === 0 && this.#open.get(who) === open) this.#open.delete(who);
    };
  }
}
