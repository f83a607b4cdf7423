import type { SearchProgram } from './program.ts';

/** What the view knows; a MailboxView is one. */
export interface FlagFacts {
  bits(uid: number): number;
  flagNames(uid: number): readonly string[];
}

/** What the rows know of one message. */
export interface SearchRow {
  uid: number;
  /** RFC822.SIZE. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  /** MessageIndex.sentDay, -1 when there is none. */
  sentDay: number;
  /** MessageIndex.parts. */
  parts: string;
  /** Octets in front of the blob. */
  traceLength: number;
}

/** Where a search reads from. All answers are in the order asked; messages that are gone are left out. */
export interface SearchSource<Row extends SearchRow = SearchRow> {
  /** Rows of at most 200 UIDs. */
  rows(uids: readonly number[]): Promise<Row[]> | Row[];
  /** The header of trace and blob with its empty line. */
  header(row: Row): Promise<Uint8Array> | Uint8Array;
  /** Trace and blob. */
  whole(row: Row): Promise<Uint8Array> | Uint8Array;
}

/** Messages that flags and UIDs alone do not decide, with what is known of them: plain data that may cross a thread. */
export interface Candidates {
  uids: Uint32Array;
  /** Per UID: the system flags. */
  system: Uint8Array;
  /** Keywords that the program names; per UID a run of octets with one bit each. */
  keywords: readonly string[];
  words: Uint8Array;
}

/** First tier: what UIDs and flags decide. `found` match already, `open` need rows or bytes; both ascending. */
export declare function glance(
  program: SearchProgram,
  uids: Uint32Array,
  length: number,
  facts: FlagFacts,
): { found: Uint32Array; open: Candidates };

export type SearchOutcome = { kind: 'found'; uids: Uint32Array } | { kind: 'too-long' };

/** Second to fourth tier: rows, headers, text; each only for messages the cheaper ones left undecided. */
export declare function evaluate<Row extends SearchRow>(
  program: SearchProgram,
  open: Candidates,
  source: SearchSource<Row>,
  options?: { now?: number; limitMs?: number; clock?: () => number },
): Promise<SearchOutcome>;

/** All tiers on one thread. */
export declare function search<Row extends SearchRow>(
  program: SearchProgram,
  view: FlagFacts & { uids: Uint32Array; length: number },
  source: SearchSource<Row>,
  options?: { now?: number; limitMs?: number; clock?: () => number },
): Promise<SearchOutcome>;
