import type { SequenceSet } from '../wire/sequence-set.ts';

/** One search key of RFC 9051 6.4.4 as plain data that may cross a thread. */
export type SearchKey =
  | { key: 'all' }
  | { key: 'never' }
  /** Message sequence numbers; `bindSearch` turns them into `uid`. */
  | { key: 'seq'; set: SequenceSet }
  | { key: 'uid'; set: SequenceSet }
  /** A system flag, as its bit in needs.ts. */
  | { key: 'flag'; bit: number }
  /** A keyword in lower case. */
  | { key: 'keyword'; name: string }
  /** Octets, exclusive. */
  | { key: 'larger' | 'smaller'; size: number }
  /** Calendar days since 1970-01-01: of INTERNALDATE in UTC, or of the Date field as written. */
  | { key: 'received' | 'sent'; when: 'before' | 'on' | 'since'; day: number }
  /** RFC 5032: received at least, or at most, that many seconds ago. */
  | { key: 'older' | 'younger'; seconds: number }
  /** Field name in lower case; '' as text: the field exists. */
  | { key: 'header'; field: string; text: string }
  | { key: 'body' | 'text'; text: string }
  | { key: 'not'; of: SearchKey }
  | { key: 'or' | 'and'; of: readonly SearchKey[] };

export type SearchProgram = SearchKey;

/** RFC 4731. */
export type SearchReturn = 'MIN' | 'MAX' | 'ALL' | 'COUNT';

export type SearchCommand =
  | { kind: 'search'; program: SearchProgram; returns: readonly SearchReturn[] | undefined }
  /** Rejected with NO [BADCHARSET (US-ASCII UTF-8)]. */
  | { kind: 'bad-charset' };
