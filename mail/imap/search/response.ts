import { spacedNumbers, uidSet } from '../wire/encoder.ts';
import type { PartialRange, SearchReturn, SearchReturns } from './program.ts';
import { partOf } from './returns.ts';

/** A result as the client gets it. */
export interface SearchResult {
  /** UIDs or sequence numbers, ascending or in the order of SORT. */
  numbers: Uint32Array;
  /** Relevancy from 1 to 100 of each, for RETURN (RELEVANCY). */
  scores?: ArrayLike<number>;
}

export interface ResponseForm {
  /** Begin of the untagged response without RETURN. */
  name: 'SEARCH' | 'SORT';
  tag: string;
  uid: boolean;
  returns: SearchReturns | undefined;
  /** Mailbox of a search in several ones: ` MAILBOX name UIDVALIDITY 5`. RFC 7377 2.1. */
  mailbox?: string;
  /** Mod-sequence of a search by MODSEQ. RFC 7162 3.1.6. */
  modseq?: number | undefined;
}

/**
 * The untagged response with CRLF: `* SEARCH 2 3` (also when empty), or with RETURN `* ESEARCH (TAG "a") UID COUNT 2`.
 * Empty when only SAVE or updates are wanted. RFC 5182 2.1.
 */
export function searchResponse(
  { name, tag, uid, returns, mailbox = '', modseq }: ResponseForm,
  result: SearchResult,
): string {
  if (returns === undefined) {
    return `* ${name}${spacedNumbers(result.numbers)}${modseq === undefined ? '' : ` (MODSEQ ${modseq})`}\r\n`;
  }
  if (returns.options.every((option) => option === 'SAVE')) return '';
  const data = returns.options.map((option) => returnData(option, returns.partial, result)).join('');
  const end = modseq === undefined ? '' : ` MODSEQ ${modseq}`;
  return `* ESEARCH (TAG "${tag}"${mailbox})${uid ? ' UID' : ''}${data}${end}\r\n`;
}

/**
 * The mod-sequence to return: of the first or the last message if only MIN or MAX is asked for, else the highest of all;
 * undefined when nothing was found. RFC 4731 3.2, RFC 7162 3.1.6.
 */
export function foundModseq(
  uids: Uint32Array,
  returns: SearchReturns | undefined,
  modseqOf: (uid: number) => number,
): number | undefined {
  if (uids.length === 0) return undefined;
  const onlyEnds = returns?.options.every((option) => option === 'MIN' || option === 'MAX') ?? false;
  const named = onlyEnds && returns !== undefined ? savedPart(uids, returns) : uids;
  return named.reduce((highest, uid) => Math.max(highest, modseqOf(uid)), 0);
}

function returnData(option: SearchReturn, range: PartialRange | undefined, { numbers, scores }: SearchResult): string {
  if (option === 'COUNT') return ` COUNT ${numbers.length}`;
  if (option === 'PARTIAL' && range !== undefined) {
    const part = partOf(numbers, range);
    return ` PARTIAL (${range.from}:${range.to} ${part.length === 0 ? 'NIL' : uidSet(part)})`;
  }
  // RFC 4731 3.1: MIN, MAX and ALL are omitted when nothing matches.
  if (numbers.length === 0) return '';
  // RFC 5267 3: of SORT, the first and last in its order.
  if (option === 'MIN') return ` MIN ${numbers[0]}`;
  if (option === 'MAX') return ` MAX ${numbers[numbers.length - 1]}`;
  if (option === 'ALL') return ` ALL ${uidSet(numbers)}`;
  if (option === 'RELEVANCY') return ` RELEVANCY (${Array.prototype.join.call(scores ?? [], ' ')})`;
  return '';
}

/** The messages that SAVE stores: all, or those that the other options named. RFC 5182 2.1, RFC 9394 3.1. */
export function savedPart(found: Uint32Array, { options, partial }: SearchReturns): Uint32Array {
  const wants = (option: SearchReturn): boolean => options.includes(option);
  const isNarrow = wants('MIN') || wants('MAX') || partial !== undefined;
  if (!isNarrow || wants('ALL') || wants('COUNT')) return found;
  const chosen = new Set(partial === undefined ? [] : partOf(found, partial));
  const [first, last] = [found[0], found[found.length - 1]];
  if (first !== undefined && wants('MIN')) chosen.add(first);
  if (last !== undefined && wants('MAX')) chosen.add(last);
  return Uint32Array.from(chosen);
}
