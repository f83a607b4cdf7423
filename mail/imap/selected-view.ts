import { flagsLine, flagsOf, permanentFlags } from './flags.ts';
import type { MailboxView, ViewChange } from './imap-store.ts';
import { pick, seqIndexes, uidIndexes } from './wire/sequence-set.ts';
import type { IndexRange, SequenceSet } from './wire/sequence-set.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/**
 * Untagged updates that may be sent. RFC 9051 7.5.1: an EXPUNGE during FETCH, STORE or SEARCH would change the sequence
 * numbers of the client's next, already pipelined command. Their UID forms allow all updates.
 */
export type AllowedUpdates = 'all' | 'no-expunge' | 'nothing';

/**
 * The selected mailbox as the client of one session knows it. Sequence number n is `uids[n - 1]`; the array is shared
 * with all sessions. Messages expunged elsewhere stay in it until this client got their EXPUNGE.
 */
export class SelectedView {
  readonly shared: MailboxView;
  readonly readOnly: boolean;
  uids: Uint32Array;
  length: number;
  /** Mod-sequence up to which flag changes were reported. */
  private reportedModseq: number;
  private reportedKeywords: number;
  /** Mod-sequences of this session's own changes, which are not reported again. */
  private ownModseqs: number[] | undefined;

  constructor(shared: MailboxView, readOnly: boolean) {
    this.shared = shared;
    this.readOnly = readOnly;
    this.uids = shared.uids;
    this.length = shared.length;
    this.reportedModseq = shared.highestModseq;
    this.reportedKeywords = shared.keywords.length;
  }

  /** Sequence number of a UID, or 0 when it was never reported to this client or is expunged. */
  sequenceOf(uid: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.uids[middle] ?? 0;
      if (found === uid) return middle + 1;
      if (found < uid) low = middle + 1;
      else high = middle - 1;
    }
    return 0;
  }

  /** Positions of a set's messages in `uids`. Throws ImapSyntaxError for a sequence number beyond the last message. */
  indexes(set: SequenceSet, uid: boolean): IndexRange[] {
    const ranges = uid ? uidIndexes(set, this.uids, this.length) : seqIndexes(set, this.length);
    if (ranges === undefined) throw new ImapSyntaxError('Invalid message sequence number');
    return ranges;
  }

  /** UIDs of the messages of a set, ascending. Throws as {@link indexes} does. */
  uidsOf(set: SequenceSet, uid: boolean): Uint32Array {
    return pick(this.indexes(set, uid), this.uids);
  }

  /** Records mod-sequences of this client's own changes, so that they are not echoed. */
  addOwnChanges(modseqs: readonly number[]): void {
    if (modseqs.length > 0) (this.ownModseqs ??= []).push(...modseqs);
  }

  /** True when {@link takeUpdates} may return something. Cheap enough for every change. */
  get isStale(): boolean {
    const { shared } = this;
    return (
      shared.highestModseq > this.reportedModseq ||
      shared.uids !== this.uids ||
      shared.length !== this.length ||
      shared.keywords.length !== this.reportedKeywords
    );
  }

  /** Returns the untagged responses for all changes that are allowed now, and marks them as reported. */
  takeUpdates(allowed: AllowedUpdates): string {
    if (allowed === 'nothing' || !this.isStale) return '';
    const last = this.length > 0 ? (this.uids[this.length - 1] ?? 0) : 0;
    return this.takeKeywordUpdate() + this.takeExpunges(allowed) + this.takeExists() + this.takeFlagUpdates(last);
  }

  // RFC 9051 7.3.5: FLAGS with a new keyword comes before the first message that has it.
  takeKeywordUpdate(): string {
    if (this.shared.keywords.length === this.reportedKeywords) return '';
    this.reportedKeywords = this.shared.keywords.length;
    const { keywords } = this.shared;
    return `${flagsLine(keywords)}* OK [${permanentFlags(keywords, this.readOnly)}] New keyword\r\n`;
  }

  private takeExpunges(allowed: AllowedUpdates): string {
    if (this.shared.uids === this.uids) return '';
    const lines = this.expungeLines();
    if (lines.length > 0 && allowed !== 'all') return '';
    this.uids = this.shared.uids;
    this.length -= lines.length;
    // From the last to the first, so that no EXPUNGE changes the numbers of those after it.
    return lines.reverse().join('');
  }

  /** EXPUNGE responses, in ascending order, of messages that the client still counts. */
  private expungeLines(): string[] {
    const lines: string[] = [];
    const { uids, length } = this.shared;
    let position = 0;
    for (let at = 0; at < this.length; at += 1) {
      const uid = this.uids[at] ?? 0;
      while (position < length && (uids[position] ?? 0) < uid) position += 1;
      if (position < length && uids[position] === uid) position += 1;
      else lines.push(`* ${at + 1} EXPUNGE\r\n`);
    }
    return lines;
  }

  private takeExists(): string {
    // A deferred EXPUNGE defers EXISTS too: the count must not go down without EXPUNGE.
    if (this.shared.uids !== this.uids || this.shared.length <= this.length) return '';
    this.length = this.shared.length;
    return `* ${this.length} EXISTS\r\n`;
  }

  /** FETCH responses for flags that others changed on messages up to UID `last`; later ones were not reported yet. */
  private takeFlagUpdates(last: number): string {
    const { shared } = this;
    if (shared.highestModseq <= this.reportedModseq) return '';
    const changes = shared.changesSince(this.reportedModseq);
    const own = new Set(this.ownModseqs);
    const changed = changes === undefined ? this.newerThan(this.reportedModseq, own) : changedByOthers(changes, own);
    this.reportedModseq = shared.highestModseq;
    this.ownModseqs = undefined;
    const lines: string[] = [];
    for (const uid of changed) {
      const sequence = uid <= last && shared.indexOf(uid) >= 0 ? this.sequenceOf(uid) : 0;
      if (sequence > 0) lines.push(`* ${sequence} FETCH (UID ${uid} FLAGS ${flagsOf(shared, uid).text})\r\n`);
    }
    return lines.join('');
  }

  private newerThan(since: number, own: ReadonlySet<number>): number[] {
    const newer: number[] = [];
    for (let at = 0; at < this.length; at += 1) {
      const uid = this.uids[at] ?? 0;
      const modseq = this.shared.modseq(uid);
      if (modseq > since && !own.has(modseq)) newer.push(uid);
    }
    return newer;
  }
}

function changedByOthers(changes: readonly ViewChange[], own: ReadonlySet<number>): Set<number> {
  const changed = new Set<number>();
  for (const { modseq, flags } of changes) {
    if (!own.has(modseq)) for (const uid of flags) changed.add(uid);
  }
  return changed;
}
