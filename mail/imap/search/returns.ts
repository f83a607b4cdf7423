import type { Decoder } from '../wire/decoder.ts';
import type { IndexRange } from '../wire/sequence-set.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';
import type { PartialRange, SearchReturn, SearchReturns } from './program.ts';

const OPTIONS: ReadonlySet<string> = new Set<SearchReturn>([
  'MIN',
  'MAX',
  'ALL',
  'COUNT',
  'SAVE',
  'UPDATE',
  'CONTEXT',
  'RELEVANCY',
  'PARTIAL',
]);

/** Reads `RETURN (...) ` if it comes next. RFC 4731 3.1, RFC 5267 4, RFC 9394 3.1. */
export function parseReturns(d: Decoder): SearchReturns | undefined {
  if (!d.maybe('RETURN ')) return undefined;
  const options = new Set<SearchReturn>();
  let partial: PartialRange | undefined;
  d.list((one) => {
    const option = one.word();
    if (!OPTIONS.has(option)) throw new ImapSyntaxError('Unknown RETURN option');
    options.add(option as SearchReturn);
    if (option !== 'PARTIAL') return;
    if (partial !== undefined) throw new ImapSyntaxError('PARTIAL is allowed only once');
    partial = parsePartial(one.sp());
  });
  d.sp();
  if (partial !== undefined && options.has('ALL')) throw new ImapSyntaxError('PARTIAL and ALL exclude each other');
  // RFC 4731 3.1: no option at all means ALL.
  if (options.size === 0) options.add('ALL');
  return { options: [...options], ...(partial !== undefined && { partial }) };
}

/** `1:500`, or `-1:-100` from the end. The order of the two does not matter. RFC 9394 3.1. */
export function parsePartial(d: Decoder): PartialRange {
  const isFromEnd = d.maybe('-');
  const a = d.nzNumber();
  d.expect(':');
  if (isFromEnd) d.expect('-');
  const b = d.nzNumber();
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  return isFromEnd ? { from: -low, to: -high } : { from: low, to: high };
}

/** The elements of a result that a range names, in the order of the result. */
export function partOf(found: Uint32Array, { from, to }: PartialRange): Uint32Array {
  if (from > 0) return found.subarray(from - 1, to);
  return found.subarray(Math.max(0, found.length + to), Math.max(0, found.length + from + 1));
}

/** The messages at these positions of ranges, which ascend. RFC 9394 3.3. */
export function partOfRanges(ranges: readonly IndexRange[], { from, to }: PartialRange): IndexRange[] {
  const count = ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  const [first, last] = from > 0 ? [from - 1, to] : [Math.max(0, count + to), Math.max(0, count + from + 1)];
  const part: IndexRange[] = [];
  let before = 0;
  for (const { start, end } of ranges) {
    const low = Math.max(start, start + first - before);
    const high = Math.min(end, start + last - before);
    if (low < high) part.push({ start: low, end: high });
    before += end - start;
  }
  return part;
}
