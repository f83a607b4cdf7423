import type { SequenceSet } from '../wire/sequence-set.ts';
import type { SortKey } from './sort/sort-key.ts';
import type { ThreadAlgorithm } from './thread/thread-input.ts';

/** One search key of RFC 9051 6.4.4 as plain data that may cross a thread. */
export type SearchKey =
  | { key: 'all' }
  | { key: 'never' }
  /** Message sequence numbers; `bindSearch` turns them into `uid`. */
  | { key: 'seq'; set: SequenceSet }
  | { key: 'uid'; set: SequenceSet }
  /** Messages with at least this mod-sequence; `bindSearch` turns it into `uid`. RFC 7162 3.1.5. */
  | { key: 'modseq'; since: number }
  /** \Recent: of this session, so `bindSearch` turns it into `uid`. */
  | { key: 'recent' }
  /** A system flag, as its bit in needs.ts. */
  | { key: 'flag'; bit: number }
  /** A keyword in lower case. */
  | { key: 'keyword'; name: string }
  /** Octets, exclusive. */
  | { key: 'larger' | 'smaller'; size: number }
  /** Calendar days since 1970-01-01: of INTERNALDATE in UTC, or of the Date field as written. */
  | { key: 'received' | 'sent'; when: 'before' | 'on' | 'since'; day: number }
  /** SAVEDATE, in days UTC. RFC 8514. */
  | { key: 'saved'; when: 'before' | 'on' | 'since'; day: number }
  /** RFC 5032: received at least, or at most, that many seconds ago. */
  | { key: 'older' | 'younger'; seconds: number }
  /** Object ids. RFC 8474 4.4. */
  | { key: 'emailid' | 'threadid'; id: string }
  /** Field name in lower case; '' as text: the field exists. */
  | { key: 'header'; field: string; text: string }
  | { key: 'body' | 'text'; text: string }
  /** RFC 6203: matched as the server sees fit. `resolveFuzzy` replaces it. */
  | { key: 'fuzzy'; of: SearchKey }
  | { key: 'not'; of: SearchKey }
  | { key: 'or' | 'and'; of: readonly SearchKey[] };

export type SearchProgram = SearchKey;

/** Octets that a program holds: its texts, sets and keys. */
export function octetsOfProgram(key: SearchKey): number {
  if (key.key === 'not' || key.key === 'fuzzy') return KEY_OCTETS + octetsOfProgram(key.of);
  if (key.key === 'and' || key.key === 'or')
    return key.of.reduce((sum, each) => sum + octetsOfProgram(each), KEY_OCTETS);
  const texts = Object.values(key).filter((value) => typeof value === 'string');
  const ranges = 'set' in key ? key.set.length : 0;
  return KEY_OCTETS + ranges * RANGE_OCTETS + texts.reduce((sum, { length }) => sum + 2 * length, 0);
}

const KEY_OCTETS = 64;
const RANGE_OCTETS = 48;

/** A key that looks for a text. */
export type TextKey = Extract<SearchKey, { text: string }>;

/** RFC 4731, RFC 5182, RFC 5267, RFC 6203, RFC 9394. */
export type SearchReturn = 'MIN' | 'MAX' | 'ALL' | 'COUNT' | 'SAVE' | 'UPDATE' | 'CONTEXT' | 'RELEVANCY' | 'PARTIAL';

/** RETURN of SEARCH and SORT; each option once. */
export interface SearchReturns {
  readonly options: readonly SearchReturn[];
  readonly partial?: PartialRange;
}

/** Positions in the result from 1, the lower first; below 0 they count from the end: -1 is the last. RFC 9394 3.1. */
export interface PartialRange {
  readonly from: number;
  readonly to: number;
}

/** Where a command searches: a program, and the charset of its strings as named. */
export interface SearchCriteria {
  readonly program: SearchProgram;
  /** Undefined without CHARSET. */
  readonly charset: string | undefined;
}

/** Messages that a search found. */
export interface FoundMessages {
  readonly kind: 'messages';
  /** UIDs, ascending or in the order of SORT. */
  readonly uids: Uint32Array;
  /** Relevancy by UID, of fuzzy keys. */
  readonly scores: ReadonlyMap<number, number>;
}

/** A charset that is not supported: NO [BADCHARSET]. */
export interface BadCharset {
  readonly kind: 'bad-charset';
  /** Options of RETURN: with SAVE, the refusal empties `$`. RFC 5182 2.1. */
  readonly returns?: SearchReturns | undefined;
}

export type SearchCommand =
  ({ readonly kind: 'search'; readonly returns: SearchReturns | undefined } & SearchCriteria) | BadCharset;

export type SortCommand =
  | ({
      readonly kind: 'sort';
      readonly keys: readonly SortKey[];
      readonly returns: SearchReturns | undefined;
    } & SearchCriteria)
  | BadCharset;

export type ThreadCommand =
  ({ readonly kind: 'thread'; readonly algorithm: ThreadAlgorithm } & SearchCriteria) | BadCharset;
