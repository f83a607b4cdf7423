/** Characters of a place that are looked at, and fragments of a message. */
const MOST_LOOKED = 64 * 1024;
const MOST = 500;
/** Words that may be a piece of a secret: long enough, with a digit among them. */
const FRAGMENT = /(?=[a-z_-]{0,63}[0-9])[a-z0-9_-]{6,64}/g;

/** Pieces of what was cut up: the words of several places of a message that are no everyday words, in their order. */
export class Fragments {
  readonly #words: string[] = [];

  add(plain: string): void {
    if (this.#words.length >= MOST) return;
    this.#words.push(...(plain.slice(0, MOST_LOOKED).match(FRAGMENT) ?? []).slice(0, MOST - this.#words.length));
  }

  toString(): string {
    return this.#words.join('');
  }
}
