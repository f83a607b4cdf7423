import type { Session } from './session.ts';
import { ascendingRanges, commonRanges, rangesText, rangesWithout } from './uid-ranges.ts';
import type { Decoder } from './wire/decoder.ts';
import { STAR, type SequenceRange, type SequenceSet } from './wire/sequence-set.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/** Ranges in one VANISHED response: larger answers are several responses, sent as the client reads. */
const RANGES_EACH_RESPONSE = 1_000;

/** The state of a client's copy of a mailbox: the argument of SELECT's QRESYNC. RFC 7162 3.2.5. */
export interface QresyncState {
  readonly uidValidity: number;
  readonly modseq: number;
  /** UIDs that the client has; undefined: all. */
  readonly known: SequenceSet | undefined;
  /** UIDs that had these sequence numbers, in pairs. */
  readonly match: { readonly sequences: SequenceSet; readonly uids: SequenceSet } | undefined;
}

/** Reads `(67890007 20050715194045000 41:211 (1,3 3,5))`. */
export function parseQresync(d: Decoder): QresyncState {
  d.expect('(');
  const uidValidity = d.nzNumber();
  const modseq = d.sp().modseq();
  const known = d.ahead(' ') && !d.ahead(' (') ? withoutStar(d.sp().sequenceSet()) : undefined;
  const match = d.ahead(' (') ? parseMatch(d.sp()) : undefined;
  d.expect(')');
  return { uidValidity, modseq, known, match };
}

function parseMatch(d: Decoder): QresyncState['match'] {
  const sequences = withoutStar(d.expect('(').sequenceSet());
  const uids = withoutStar(d.sp().sequenceSet());
  d.expect(')');
  // RFC 7162 3.2.5.2: the sets have the same number of messages.
  if (sizeOf(sequences) !== sizeOf(uids)) throw new ImapSyntaxError('Sequence numbers and UIDs do not pair');
  return { sequences, uids };
}

function withoutStar(set: SequenceSet): SequenceSet {
  if (set.some(({ from, to }) => from === STAR || to === STAR)) throw new ImapSyntaxError('* is not allowed here');
  return set;
}

function sizeOf(set: SequenceSet): number {
  return set.reduce((sum, { from, to }) => sum + Math.abs(to - from) + 1, 0);
}

/**
 * Writes VANISHED (EARLIER) for messages that were expunged after a mod-sequence, of `known` UIDs. When too many were
 * expunged to list them one by one, all known UIDs that do not exist are listed, which RFC 7162 3.2.5.1 allows.
 */
export async function writeVanished(
  session: Session,
  since: number,
  { known, match }: Partial<Pick<QresyncState, 'known' | 'match'>>,
): Promise<void> {
  const { view } = session;
  const last = view.uidNext - 1;
  const listed = await session.store.vanished(view.shared.mailbox, since);
  const expunged = ascendingRanges(listed ?? [unchecked(match, view, last)], last);
  const ranges = known === undefined ? expunged : commonRanges(expunged, ascendingRanges(known, last));
  // A message that this client still counts gets its VANISHED later.
  const gone = rangesWithout(commonRanges(ranges, [{ from: 1, to: last }]), view.uids, view.length);
  for (let at = 0; at < gone.length; at += RANGES_EACH_RESPONSE) {
    session.write(`* VANISHED (EARLIER) ${rangesText(gone.slice(at, at + RANGES_EACH_RESPONSE))}\r\n`);
    await session.drained();
  }
}

/** All UIDs above those that the client has in the right place. */
function unchecked(match: QresyncState['match'], { uids, length }: Session['view'], last: number): SequenceRange {
  return { from: Math.min(lastMatching(match, uids, length) + 1, last), to: last };
}

/** The highest UID that still has the sequence number that the client knows: nothing below it was expunged. */
function lastMatching(match: QresyncState['match'], uids: Uint32Array, length: number): number {
  if (match === undefined) return 0;
  let found = 0;
  for (const { sequence, uid, count } of pairs(match.sequences, match.uids)) {
    // Within a run both grow by one: if its last pair matches, it is the highest.
    const run = Math.min(count, length - sequence + 1);
    for (const offset of run > 0 ? [0, run - 1] : []) {
      if (uids[sequence + offset - 1] === uid + offset) found = Math.max(found, uid + offset);
    }
  }
  return found;
}

/** Runs in which sequence numbers and UIDs both grow by one. */
function* pairs(
  sequences: SequenceSet,
  uids: SequenceSet,
): Generator<{ sequence: number; uid: number; count: number }> {
  const [left, right] = [sequences, uids].map((set) =>
    set.map(({ from, to }): SequenceRange => ({ from: Math.min(from, to), to: Math.max(from, to) })),
  ) as [SequenceRange[], SequenceRange[]];
  for (let i = 0, k = 0; i < left.length && k < right.length;) {
    const [one, other] = [left[i] as SequenceRange, right[k] as SequenceRange];
    const count = Math.min(one.to - one.from, other.to - other.from) + 1;
    yield { sequence: one.from, uid: other.from, count };
    one.from += count;
    other.from += count;
    if (one.from > one.to) i += 1;
    if (other.from > other.to) k += 1;
  }
}
