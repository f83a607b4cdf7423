import { flagsLine, flagsOf, permanentFlags } from './flags.ts';
import type { MailboxView, ViewChange } from './needs.ts';
import { pick, seqIndexes, uidIndexes } from './wire/sequence-set.ts';
import type { IndexRange, SequenceSet } from './wire/sequence-set.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/**
 * RFC 9051 7.5.1: an EXPUNGE while FETCH, STORE or SEARCH is answered would change the numbers that the client's next,
 * already pipelined command means. Their UID forms may be told everything.
 */
export type Tellable = 'all' | 'no-expunge' | 'nothing';

/**
 * What one session has told its client about the selected mailbox. Sequence number n is `uids[n - 1]`; the array is
 * shared with every other session, so it costs nothing. Messages expunged elsewhere stay until the client was told.
 */
export class SelectedView {
  readonly shared: MailboxView;
  readonly readOnly: boolean;
  uids: Uint32Array;
  length: number;
  /** Mod-sequence up to which flag changes were told. */
  private told: number;
  private toldKeywords: number;
  /** Mod-sequences of this session's own changes that its client knows of already. */
  private own: number[] | undefined;

  constructor(shared: MailboxView, readOnly: boolean) {
    this.shared = shared;
    this.readOnly = readOnly;
    this.uids = shared.uids;
    this.length = shared.length;
    this.told = shared.highestModseq;
    this.toldKeywords = shared.keywords.length;
  }

  /** Sequence number of a UID, or 0 when this client was never told of it or knows it is gone. */
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

  /** Where the messages of a set are in `uids`. Throws ImapSyntaxError for a sequence number beyond the last message. */
  indexes(set: SequenceSet, uid: boolean): IndexRange[] {
    const ranges = uid ? uidIndexes(set, this.uids, this.length) : seqIndexes(set, this.length);
    if (ranges === undefined) throw new ImapSyntaxError('No message has that number');
    return ranges;
  }

  /** UIDs of the messages of a set, ascending. Throws as {@link indexes} does. */
  uidsOf(set: SequenceSet, uid: boolean): Uint32Array {
    return pick(this.indexes(set, uid), this.uids);
  }

  /** Changes with these mod-sequences were this client's own wish: they are not echoed to it. */
  knows(modseqs: readonly number[]): void {
    if (modseqs.length > 0) (this.own ??= []).push(...modseqs);
  }

  /** Whether {@link news} could say something. Cheap enough to be asked at every change. */
  get stale(): boolean {
    const { shared } = this;
    return (
      shared.highestModseq > this.told ||
      shared.uids !== this.uids ||
      shared.length !== this.length ||
      shared.keywords.length !== this.toldKeywords
    );
  }

  /** The untagged responses that bring the client up to date as far as allowed, and takes them as said. */
  news(tellable: Tellable): string {
    if (tellable === 'nothing' || !this.stale) return '';
    const last = this.length > 0 ? (this.uids[this.length - 1] ?? 0) : 0;
    return this.keywordNews() + this.expungeNews(tellable) + this.existsNews() + this.flagNews(last);
  }

  // RFC 9051 7.3.5: a client must hear of a keyword before it sees it on a message.
  keywordNews(): string {
    if (this.shared.keywords.length === this.toldKeywords) return '';
    this.toldKeywords = this.shared.keywords.length;
    const { keywords } = this.shared;
    return `${flagsLine(keywords)}* OK [${permanentFlags(keywords, this.readOnly)}] New keyword\r\n`;
  }

  private expungeNews(tellable: Tellable): string {
    if (this.shared.uids === this.uids) return '';
    const gone = this.missing();
    if (gone.length > 0 && tellable !== 'all') return '';
    this.uids = this.shared.uids;
    this.length -= gone.length;
    // From the last to the first, so that no number is changed by the ones told before it.
    return gone.reverse().join('');
  }

  /** EXPUNGE lines, in ascending order, of the messages that the client counts and the mailbox no longer has. */
  private missing(): string[] {
    const gone: string[] = [];
    const { uids, length } = this.shared;
    let there = 0;
    for (let at = 0; at < this.length; at += 1) {
      const uid = this.uids[at] ?? 0;
      while (there < length && (uids[there] ?? 0) < uid) there += 1;
      if (there < length && uids[there] === uid) there += 1;
      else gone.push(`* ${at + 1} EXPUNGE\r\n`);
    }
    return gone;
  }

  private existsNews(): string {
    // While an expunge is held back the old numbers are kept, and new messages wait with it: EXISTS never goes down.
    if (this.shared.uids !== this.uids || this.shared.length <= this.length) return '';
    this.length = this.shared.length;
    return `* ${this.length} EXISTS\r\n`;
  }

  /** FETCH responses for flags that others changed on messages up to UID `last`; of later ones nothing was told yet. */
  private flagNews(last: number): string {
    const { shared } = this;
    if (shared.highestModseq <= this.told) return '';
    const changes = shared.changesSince(this.told);
    const own = new Set(this.own);
    const changed = changes === undefined ? this.newerThan(this.told, own) : foreign(changes, own);
    this.told = shared.highestModseq;
    this.own = undefined;
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

function foreign(changes: readonly ViewChange[], own: ReadonlySet<number>): Set<number> {
  const changed = new Set<number>();
  for (const { modseq, flags } of changes) {
    if (!own.has(modseq)) for (const uid of flags) changed.add(uid);
  }
  return changed;
}
