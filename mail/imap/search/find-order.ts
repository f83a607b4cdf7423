import type { SortKey } from './sort/sort-key.ts';
import type { ThreadAlgorithm } from './thread/thread-input.ts';

/** Order of the found messages: plain data, sent to another thread. */
export type FindOrder =
  | { kind: 'sort'; keys: readonly SortKey[]; scores: ReadonlyMap<number, number> }
  /** `known`: UIDs in the order of sequence numbers, for an answer with these. */
  | { kind: 'thread'; algorithm: ThreadAlgorithm; known: Uint32Array | undefined };

/** Result of a search, a SORT or a THREAD. */
export type FindOutcome =
  /** UIDs, ascending or in the requested order. */
  | { kind: 'found'; uids: Uint32Array }
  /** Data of a THREAD response. */
  | { kind: 'threads'; text: string }
  | { kind: 'too-long' };
