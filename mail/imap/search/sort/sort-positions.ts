import { compareKeys } from './compare-keys.ts';

/** Values of one sort key by position, and the direction. */
export interface SortColumn {
  values: ArrayLike<number> | readonly string[];
  reverse: boolean;
}

/** Beyond it two ranks do not fit one number. */
const MAX_PAIR = 2 ** 26;

/**
 * Sorts positions by columns; equal ones keep their order. Each column becomes ranks, and ranks become one number a
 * position, so that the last sort is one of plain numbers.
 */
export function sortPositions(positions: Uint32Array, columns: readonly SortColumn[]): Uint32Array {
  let ranks: Float64Array | undefined;
  for (const column of columns) {
    const next = ranksOf(positions, column);
    ranks = ranks === undefined ? next : combined(ranks, next);
  }
  if (ranks === undefined) return positions;
  const keys = ranks.map((rank, i) => rank * MAX_PAIR + i).sort();
  return Uint32Array.from(keys, (key) => positions[key % MAX_PAIR] ?? 0);
}

/** Ranks from 0: equal values have equal ranks. */
function ranksOf(positions: Uint32Array, { values, reverse }: SortColumn): Float64Array {
  const ranks = isTexts(values) ? textRanks(positions, values) : numberRanks(positions, values);
  if (!reverse) return ranks;
  let most = 0;
  for (const rank of ranks) if (rank > most) most = rank;
  return ranks.map((rank) => most - rank);
}

function isTexts(values: SortColumn['values']): values is readonly string[] {
  return Array.isArray(values);
}

function numberRanks(positions: Uint32Array, values: ArrayLike<number>): Float64Array {
  const own = Float64Array.from(positions, (position) => values[position] ?? 0);
  const distinct = own.slice().sort();
  return own.map((value) => firstIndex(distinct, value));
}

/** Index of the first element that is not less. */
function firstIndex(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Ranks of the texts of a column by position, kept while the column lives, since comparing texts is what costs. */
const known = new WeakMap<readonly string[], TextRanks>();

function textRanks(positions: Uint32Array, values: readonly string[]): Float64Array {
  let texts = known.get(values);
  if (texts === undefined) known.set(values, (texts = new TextRanks()));
  const ranks = texts.of(values);
  return Float64Array.from(positions, (position) => ranks[position] ?? 0);
}

/** Ranks of a column that grows. */
class TextRanks {
  readonly #numbers = new Map<string, number>();
  /** Number of the text, by position. */
  readonly #texts: number[] = [];
  /** Different texts in order. New ones come at the end, and a sort of a sorted list with few new ones is linear. */
  readonly #sorted: string[] = [];
  #ranks = new Float64Array(0);

  of(values: readonly string[]): Float64Array {
    if (this.#texts.length === values.length) return this.#ranks;
    for (let at = this.#texts.length; at < values.length; at++) this.#texts.push(this.#numberOf(values[at] ?? ''));
    const rankOfNumber = new Float64Array(this.#sorted.length);
    this.#sorted.sort(compareKeys).forEach((text, rank) => (rankOfNumber[this.#numbers.get(text) ?? 0] = rank));
    this.#ranks = Float64Array.from(this.#texts, (number) => rankOfNumber[number] ?? 0);
    return this.#ranks;
  }

  #numberOf(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      this.#numbers.set(text, (number = this.#numbers.size));
      this.#sorted.push(text);
    }
    return number;
  }
}

/** Ranks of pairs, below the number of positions so that a third column fits. */
function combined(first: Float64Array, second: Float64Array): Float64Array {
  const pairs = first.map((rank, i) => rank * MAX_PAIR + second[i]!);
  const sorted = pairs.slice().sort();
  return pairs.map((pair) => firstIndex(sorted, pair));
}
