/** `*`: the last message. Zero is no message number and no UID. */
export const STAR = 0;

/** One element of a set as it was written; bounds may be swapped, `from` equals `to` for a single number. */
export interface SequenceRange {
  from: number;
  to: number;
}

/** A sequence set stays ranges: `1:4294967295` is one of them. RFC 9051 9 `sequence-set`. */
export type SequenceSet = readonly SequenceRange[];

/** Indexes of a UID array, `end` exclusive. */
export interface IndexRange {
  start: number;
  end: number;
}

/** Where the UIDs of a set are in `uids[0..length)`: ascending, disjoint. UIDs that do not exist are left out. */
export declare function uidIndexes(set: SequenceSet, uids: Uint32Array, length: number): IndexRange[];
/** The same for sequence numbers, or undefined when one is beyond `length`: BAD. RFC 9051 9 `seq-number`. */
export declare function seqIndexes(set: SequenceSet, length: number): IndexRange[] | undefined;
/** The UIDs in the set that exist, ascending, each once. */
export declare function resolveUids(set: SequenceSet, uids: Uint32Array, length: number): Uint32Array;
/** The UIDs of the messages with these sequence numbers, ascending, or undefined when one is beyond `length`: BAD. */
export declare function resolveSeqs(set: SequenceSet, uids: Uint32Array, length: number): Uint32Array | undefined;
