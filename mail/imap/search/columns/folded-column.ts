import type { PositionSet } from './position-set.ts';

/** Messages in one string: a new message rewrites at most one. */
const CHUNK = 1_024;
/** Joins the texts of a chunk. A searched text with it is not looked up here. */
const SEPARATOR = '\0';

interface TextChunk {
  text: string;
  /** Offsets in `text`, ascending. */
  starts: Uint32Array;
}

/**
 * Folded texts of one header field, by position. The texts of many messages are one string, so that looking for a text in
 * a whole mailbox is a few calls of `indexOf`.
 */
export class FoldedColumn {
  readonly #chunks: TextChunk[] = [];
  /** Texts behind the last whole chunk. */
  #rest: string[] = [];
  #length = 0;
  /** Estimated memory, octets. */
  octets = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds the text of the next position. */
  append(text: string): void {
    this.#rest.push(text);
    this.#length++;
    this.octets += 2 * text.length + 24;
    if (this.#rest.length < CHUNK) return;
    this.#chunks.push(joined(this.#rest));
    this.#rest = [];
  }

  /** True if {@link find} can look for the text. */
  static isSearchable(text: string): boolean {
    return text !== '' && !text.includes(SEPARATOR);
  }

  /** Adds to `found` the positions of `scope` whose text contains `text`, which is not empty. */
  find(text: string, scope: PositionSet, found: PositionSet): void {
    this.#chunks.forEach((chunk, c) => {
      const from = c * CHUNK;
      if (scope.mayTouch(from, from + CHUNK)) findIn(chunk, text, (i) => found.add(from + i));
    });
    const from = this.#chunks.length * CHUNK;
    this.#rest.forEach((each, i) => {
      if (each.includes(text)) found.add(from + i);
    });
  }
}

function joined(texts: readonly string[]): TextChunk {
  const starts = new Uint32Array(texts.length);
  let at = 0;
  texts.forEach((text, i) => {
    starts[i] = at;
    at += text.length + SEPARATOR.length;
  });
  return { text: texts.join(SEPARATOR), starts };
}

function findIn({ text: all, starts }: TextChunk, text: string, found: (index: number) => void): void {
  for (let at = all.indexOf(text); at >= 0;) {
    const index = indexAt(starts, at);
    found(index);
    const next = starts[index + 1];
    if (next === undefined) return;
    at = all.indexOf(text, next);
  }
}

/** The last index whose start is not behind `offset`. */
function indexAt(starts: Uint32Array, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
