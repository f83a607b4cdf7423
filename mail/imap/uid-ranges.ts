import { lowerBound, type SequenceRange, type SequenceSet } from './wire/sequence-set.ts';

/** Ranges in ascending order without overlaps; `*` stands for `last`. */
export function ascendingRanges(set: SequenceSet, last: number): SequenceRange[] {
  const sorted = set
    .map(({ from, to }) => [from || last, to || last] as const)
    .map(([from, to]) => ({ from: Math.min(from, to), to: Math.max(from, to) }))
    .sort((a, b) => a.from - b.from);
  const merged: SequenceRange[] = [];
  for (const range of sorted) {
    const previous = merged.at(-1);
    if (previous !== undefined && range.from <= previous.to + 1) previous.to = Math.max(previous.to, range.to);
    else merged.push(range);
  }
  return merged;
}

/** The numbers that both have; both ascending. */
export function commonRanges(a: readonly SequenceRange[], b: readonly SequenceRange[]): SequenceRange[] {
  const common: SequenceRange[] = [];
  for (let i = 0, k = 0; i < a.length && k < b.length;) {
    const [one, other] = [a[i] as SequenceRange, b[k] as SequenceRange];
    const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)];
    if (from <= to) common.push({ from, to });
    if (one.to < other.to) i += 1;
    else k += 1;
  }
  return common;
}

/** The numbers of ascending ranges that are not among `uids[0..length)`. */
export function rangesWithout(ranges: readonly SequenceRange[], uids: Uint32Array, length: number): SequenceRange[] {
  const rest: SequenceRange[] = [];
  for (const { from, to } of ranges) {
    let next = from;
    for (let at = lowerBound(uids, length, from); at < length; at += 1) {
      const uid = uids[at] ?? 0;
      if (uid > to) break;
      if (uid > next) rest.push({ from: next, to: uid - 1 });
      next = uid + 1;
    }
    if (next <= to) rest.push({ from: next, to });
  }
  return rest;
}

/** `3:5,9` */
export function rangesText(ranges: readonly SequenceRange[]): string {
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}:${to}`)).join(',');
}

/** Ranges of ascending numbers that follow each other; undefined if the numbers do not ascend. */
export function contiguousRanges(numbers: readonly number[]): SequenceRange[] | undefined {
  const ranges: SequenceRange[] = [];
  let open: SequenceRange | undefined;
  for (const number of numbers) {
    if (open !== undefined && number <= open.to) return undefined;
    if (open?.to === number - 1) open.to = number;
    else ranges.push((open = { from: number, to: number }));
  }
  return ranges;
}
