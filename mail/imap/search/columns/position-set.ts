/** A set of positions 0 to `length - 1` of a mailbox, one bit each. */
export class PositionSet {
  readonly length: number;
  readonly #words: Uint32Array;

  constructor(length: number, words: Uint32Array = new Uint32Array((length + 31) >>> 5)) {
    this.length = length;
    this.#words = words;
  }

  /** Creates the set of all positions. */
  static full(length: number): PositionSet {
    return new PositionSet(length).addRange(0, length);
  }

  add(position: number): void {
    this.#words[position >>> 5]! |= 1 << (position & 31);
  }

  has(position: number): boolean {
    return ((this.#words[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0;
  }

  /** Adds `from` to `to - 1`. */
  addRange(from: number, to: number): this {
    for (let at = from; at < to;) {
      if ((at & 31) === 0 && at + 32 <= to) {
        this.#words[at >>> 5] = 0xffffffff;
        at += 32;
      } else this.add(at++);
    }
    return this;
  }

  /** True if some position of `from` to `to - 1` is in the set; may be true for neighbors in the same words. */
  mayTouch(from: number, to: number): boolean {
    const end = (to + 31) >>> 5;
    for (let word = from >>> 5; word < end; word++) if (this.#words[word] !== 0) return true;
    return false;
  }

  get isEmpty(): boolean {
    return this.#words.every((word) => word === 0);
  }

  /** Number of positions in the set. */
  get count(): number {
    let count = 0;
    for (const word of this.#words) if (word !== 0) count += bitsOf(word);
    return count;
  }

  and(other: PositionSet): PositionSet {
    return new PositionSet(this.length, combine(this.#words, other.#words, BOTH));
  }

  or(other: PositionSet): PositionSet {
    return new PositionSet(this.length, combine(this.#words, other.#words, EITHER));
  }

  /** Positions of this set that are not in the other. */
  minus(other: PositionSet): PositionSet {
    return new PositionSet(this.length, combine(this.#words, other.#words, LESS));
  }

  /** Positions in ascending order. */
  toArray(): Uint32Array {
    const out = new Uint32Array(this.count);
    let at = 0;
    this.#words.forEach((bits, word) => {
      for (let rest = bits; rest !== 0; rest &= rest - 1) out[at++] = word * 32 + (31 - Math.clz32(rest & -rest));
    });
    return out;
  }
}

const BOTH = 0;
const EITHER = 1;
const LESS = 2;

function combine(a: Uint32Array, b: Uint32Array, how: number): Uint32Array {
  const out = new Uint32Array(a.length);
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i]!, b[i]!];
    out[i] = how === BOTH ? x & y : how === EITHER ? x | y : x & ~y;
  }
  return out;
}

function bitsOf(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
