import {
  runsOf,
  SAVED_RESULT,
  seqIndexes,
  uidIndexes,
  type IndexRange,
  type SequenceSet,
} from '../wire/sequence-set.ts';
import type { SearchKey, SearchProgram } from './program.ts';

/** Sets that a session knows. */
export interface BindOptions {
  /** UIDs that changed after a mod-sequence. */
  changedSince?: (modseq: number) => Uint32Array;
  /** The messages of `$`. */
  saved?: () => SequenceSet;
  /** UIDs with \Recent. */
  recent?: SequenceSet;
}

/**
 * Replaces sequence numbers and `*` by UIDs of `uids[0..length)`, the session's numbering, before the program goes to
 * another thread. Numbers beyond the end match nothing, unlike in FETCH and STORE: clients search an empty mailbox
 * for `1:*`.
 */
export function bindSearch(
  program: SearchProgram,
  uids: Uint32Array,
  length: number,
  { changedSince = () => NO_UIDS, saved = () => [], recent = [] }: BindOptions = {},
): SearchProgram {
  const bind = (key: SearchKey): SearchKey => {
    if ((key.key === 'seq' || key.key === 'uid') && key.set === SAVED_RESULT) return { key: 'uid', set: saved() };
    if (key.key === 'fuzzy') return { key: 'fuzzy', of: bind(key.of) };
    if (key.key === 'seq') return toUids(seqRanges(key.set, length), uids);
    if (key.key === 'modseq') return { key: 'uid', set: runsOf(changedSince(Math.max(0, key.since - 1))) };
    if (key.key === 'recent') return { key: 'uid', set: recent };
    if (key.key === 'uid') return toUids(uidIndexes(key.set, uids, length), uids);
    if (key.key === 'not') return { key: 'not', of: bind(key.of) };
    return key.key === 'and' || key.key === 'or' ? { key: key.key, of: key.of.map(bind) } : key;
  };
  return bind(program);
}

const NO_UIDS = new Uint32Array(0);

/** Reports whether a program asks for mod-sequences. */
export function usesModseq(key: SearchKey): boolean {
  return hasKey(key, 'modseq');
}

/** Reports whether a program names messages by sequence number. */
export function usesSequence(key: SearchKey): boolean {
  return hasKey(key, 'seq');
}

function hasKey(key: SearchKey, name: SearchKey['key']): boolean {
  if (key.key === 'not' || key.key === 'fuzzy') return hasKey(key.of, name);
  return key.key === 'and' || key.key === 'or' ? key.of.some((each) => hasKey(each, name)) : key.key === name;
}

// In ten messages `5:99` matches 5 to 10, `98:99` nothing, `98:*` the last, as with UIDs.
function seqRanges(set: SequenceSet, length: number): IndexRange[] {
  const existing = set.filter(({ from, to }) => Math.min(from || length, to || length) <= length);
  return (
    seqIndexes(
      existing.map(({ from, to }) => ({ from: Math.min(from, length), to: Math.min(to, length) })),
      length,
    ) ?? []
  );
}

function toUids(ranges: readonly IndexRange[], uids: Uint32Array): SearchKey {
  return { key: 'uid', set: ranges.map(({ start, end }) => ({ from: uids[start] ?? 0, to: uids[end - 1] ?? 0 })) };
}

/** The UIDs of two ascending lists without a common element, ascending. */
export function mergeUids(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const all = new Uint32Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all.sort();
}
