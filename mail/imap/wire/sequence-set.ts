/** `*`: the last message. Zero is no message number and no UID. */
export const STAR = 0;

/** One element of a set as sent; bounds may be swapped, `from` equals `to` for a single number. */
export interface SequenceRange {
  from: number;
  to: number;
}

/** A sequence set as ranges, never expanded: `1:4294967295` is one range. RFC 9051 9 `sequence-set`. */
export type SequenceSet = readonly SequenceRange[];

/** `$`: the messages that the last SEARCH with SAVE found. Compared by identity. RFC 5182 2.1. */
export const SAVED_RESULT: SequenceSet = Object.freeze([]);

/** Indexes of a UID array, `end` exclusive. */
export interface IndexRange {
  start: number;
  end: number;
}

/**
 * Positions of a set's UIDs in `uids[0..length)`: ascending, disjoint. Skips UIDs that do not exist; `n:*` always includes
 * the last message, also when n is greater. RFC 9051 9 `seq-range`.
 */
export function uidIndexes(set: SequenceSet, uids: Uint32Array, length: number): IndexRange[] {
  if (length === 0) return [];
  const last = uids[length - 1] ?? 0;
  const found: IndexRange[] = [];
  for (const range of set) {
    const from = range.from === STAR ? last : range.from;
    const to = range.to === STAR ? last : range.to;
    const start = lowerBound(uids, length, Math.min(from, to));
    const end = lowerBound(uids, length, Math.max(from, to) + 1);
    if (start < end) found.push({ start, end });
  }
  return merge(found);
}

/**
 * The same for sequence numbers, or undefined when one is beyond `length`: BAD. In an empty mailbox that includes `*`.
 * RFC 9051 9 `seq-number`.
 */
export function seqIndexes(set: SequenceSet, length: number): IndexRange[] | undefined {
  const found: IndexRange[] = [];
  for (const range of set) {
    const from = range.from === STAR ? length : range.from;
    const to = range.to === STAR ? length : range.to;
    if (from > length || to > length || length === 0) return undefined;
    found.push({ start: Math.min(from, to) - 1, end: Math.max(from, to) });
  }
  return merge(found);
}

/** The elements of `uids` at these indexes. A single range shares the memory of `uids`. */
export function pickUids(ranges: readonly IndexRange[], uids: Uint32Array): Uint32Array {
  const [only] = ranges;
  if (only && ranges.length === 1) return uids.subarray(only.start, only.end);
  const all = new Uint32Array(ranges.reduce((sum, { start, end }) => sum + end - start, 0));
  let at = 0;
  for (const { start, end } of ranges) {
    all.set(uids.subarray(start, end), at);
    at += end - start;
  }
  return all;
}

/** The UIDs as ranges; those that follow each other are one. */
export function runsOf(uids: Iterable<number>): SequenceRange[] {
  const runs: SequenceRange[] = [];
  for (const uid of uids) {
    const last = runs.at(-1);
    if (last?.to === uid - 1) last.to = uid;
    else runs.push({ from: uid, to: uid });
  }
  return runs;
}

/** Index of the first element that is not less than `value`. */
export function lowerBound(uids: Uint32Array, length: number, value: number): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((uids[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Each message is visited once, also with `1:*,1:*,...`.
function merge(ranges: IndexRange[]): IndexRange[] {
  ranges.sort((a, b) => a.start - b.start);
  const merged: IndexRange[] = [];
  for (const range of ranges) {
    const previous = merged.at(-1);
    if (previous && range.start <= previous.end) previous.end = Math.max(previous.end, range.end);
    else merged.push(range);
  }
  return merged;
}
