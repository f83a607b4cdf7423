import { type EnabledExtensions, NOTHING_ENABLED } from './enabled.ts';
import { type Flags, flagsLine, flagsOf, permanentFlags } from './flags.ts';
import type { ImapStore, MailboxView, ViewChange } from './imap-store.ts';
import { changeLine } from './fetch-line.ts';
import { RecentMessages } from './recent-messages.ts';
import { OWNER_RIGHTS } from './rights.ts';
import { flagList, uidSet } from './wire/encoder.ts';
import { lowerBound, pickUids, runsOf, SAVED_RESULT, seqIndexes, uidIndexes } from './wire/sequence-set.ts';
import type { IndexRange, SequenceRange, SequenceSet } from './wire/sequence-set.ts';
import { ImapSyntaxError } from './wire/syntax-error.ts';

/**
 * Untagged updates that may be sent. RFC 9051 7.5.1: an EXPUNGE during FETCH, STORE or SEARCH would change the sequence
 * numbers of the client's next, already pipelined command. Their UID forms allow all updates.
 */
export type AllowedUpdates = 'all' | 'no-expunge' | 'nothing';

/** Access of a session to the messages of a view. */
export interface ViewAccess {
  readOnly: boolean;
  /** Undefined: those of the owner. */
  rights?: string | undefined;
}

/** The client of a view: its extensions decide how changes are written. */
export interface ViewClient {
  readonly enabled: EnabledExtensions;
}

/**
 * The selected mailbox as the client of one session knows it. Sequence number n is `uids[n - 1]`; the array is shared
 * with all sessions. Messages expunged elsewhere stay in it until this client got their EXPUNGE.
 */
export class SelectedView {
  readonly shared: MailboxView;
  readonly readOnly: boolean;
  /** Rights to change messages here when it was selected; none of a read-only view. RFC 4314. */
  readonly rights: string;
  uids: Uint32Array;
  length: number;
  /** UIDNEXT when the client last received EXISTS: it knows no UID from there on. */
  uidNext: number;
  private readonly client: ViewClient;
  private readonly recent: RecentMessages;
  /** The number that the last RECENT response had. */
  private reportedRecent: number;
  /** Mod-sequence up to which flag changes were reported. */
  private reportedModseq: number;
  /** Mod-sequence up to which expunges and arrivals were reported. */
  private countedModseq: number;
  private reportedKeywords: number;
  /** UIDs that the last SEARCH with SAVE found, ascending; SELECT empties it. RFC 5182 2.1. */
  saved: Uint32Array = new Uint32Array();
  /** Flags that others change are reported; NOTIFY can leave them out. */
  reportsFlags = true;
  /** Mod-sequence up to which the store knows that this session is shown the keywords. */
  private notedModseq = -1;
  /** Sequence number that was asked for last, which is the index of the next message: mostly that is asked for. */
  private lastSequence = 0;
  /** Mod-sequences of this session's own changes, which are not reported again. */
  private ownModseqs: number[] | undefined;

  constructor(
    shared: MailboxView,
    { readOnly, rights = OWNER_RIGHTS }: ViewAccess,
    client: ViewClient = { enabled: NOTHING_ENABLED },
  ) {
    this.shared = shared;
    this.readOnly = readOnly;
    this.rights = readOnly ? '' : rights;
    this.client = client;
    this.uidNext = shared.uidNext;
    this.uids = shared.uids;
    this.length = shared.length;
    this.reportedModseq = shared.highestModseq;
    this.countedModseq = shared.highestModseq;
    this.reportedKeywords = shared.keywords.length;
    this.recent = new RecentMessages(shared, !readOnly);
    this.recent.update();
    this.reportedRecent = this.recentCount;
  }

  /** Messages with \Recent. RFC 3501 2.3.2. */
  get recentCount(): number {
    return this.recent.count(this.uids, this.length);
  }

  /** UIDs with \Recent, for SEARCH. */
  get recentRanges(): readonly SequenceRange[] {
    return this.recent.ranges;
  }

  /** Flags of a message as this client sees them: with \Recent, which IMAP4rev2 does not have. */
  flagsOf(uid: number): Flags {
    const flags = flagsOf(this.shared, uid);
    if (!this.recent.has(uid) || this.client.enabled.has('IMAP4rev2')) return flags;
    const names = [...flags.names, '\\Recent'];
    return { names, text: flagList(names) };
  }

  /** Mod-sequence up to which the client knows every change. RFC 7162 3.1.2.1: it may keep this for its next QRESYNC. */
  get syncedModseq(): number {
    return Math.min(this.reportedModseq, this.countedModseq);
  }

  /** Sequence number of a UID, or 0 when it was never reported to this client or is expunged. */
  sequenceOf(uid: number): number {
    const next = this.lastSequence;
    if (next < this.length && this.uids[next] === uid) return ++this.lastSequence;
    const sequence = this.findSequence(uid);
    if (sequence > 0) this.lastSequence = sequence;
    return sequence;
  }

  private findSequence(uid: number): number {
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
    if (set === SAVED_RESULT) return uidIndexes(this.savedSet(), this.uids, this.length);
    const ranges = uid ? uidIndexes(set, this.uids, this.length) : seqIndexes(set, this.length);
    if (ranges === undefined) throw new ImapSyntaxError('Invalid message sequence number');
    return ranges;
  }

  /** Positions among `ranges` of messages that changed after a mod-sequence. */
  changedWithin(ranges: readonly IndexRange[], since: number): IndexRange[] {
    const changed = this.shared.uidsChangedSince(since);
    const found: IndexRange[] = [];
    for (const { start, end } of ranges) {
      const last = this.uids[end - 1] ?? 0;
      for (let at = lowerBound(changed, changed.length, this.uids[start] ?? 0); at < changed.length; at += 1) {
        const uid = changed[at] ?? 0;
        if (uid > last) break;
        const sequence = this.sequenceOf(uid);
        const previous = found.at(-1);
        if (previous?.end === sequence - 1) previous.end = sequence;
        else if (sequence > 0) found.push({ start: sequence - 1, end: sequence });
      }
    }
    return found;
  }

  /** The messages of `$` that the client still counts, as UIDs. RFC 5182 2.1: expunged ones are no longer in it. */
  savedSet(): SequenceSet {
    return runsOf(this.saved);
  }

  /** UIDs of the messages of a set, ascending. Throws as {@link indexes} does. */
  uidsOf(set: SequenceSet, uid: boolean): Uint32Array {
    return pickUids(this.indexes(set, uid), this.uids);
  }

  /** Records mod-sequences of this client's own changes, so that they are not echoed. */
  addOwnChanges(modseqs: readonly number[]): void {
    if (modseqs.length > 0 && this.reportsFlags) (this.ownModseqs ??= []).push(...modseqs);
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

  /**
   * Notifies the store that keywords are about to be shown, if any message changed since the last call: one agent can pass
   * words of a stranger to another by them. Changes may arrive meanwhile, so nothing may be awaited between this and the
   * writing.
   */
  noteLabels(store: Pick<ImapStore, 'onLabels'>): Promise<void> | undefined {
    return this.notedModseq < this.shared.highestModseq ? this.tellLabels(store) : undefined;
  }

  private async tellLabels(store: Pick<ImapStore, 'onLabels'>): Promise<void> {
    const { shared } = this;
    while (this.notedModseq < shared.highestModseq) {
      const { highestModseq } = shared;
      await store.onLabels?.(shared.mailbox);
      this.notedModseq = highestModseq;
    }
  }

  // RFC 9051 7.3.5: FLAGS with a new keyword comes before the first message that has it.
  takeKeywordUpdate(): string {
    if (this.shared.keywords.length === this.reportedKeywords) return '';
    this.reportedKeywords = this.shared.keywords.length;
    const { keywords } = this.shared;
    return `${flagsLine(keywords)}* OK [${permanentFlags(keywords, this.rights)}] New keyword\r\n`;
  }

  private takeExpunges(allowed: AllowedUpdates): string {
    if (this.shared.uids === this.uids) return '';
    const expunged = this.expungedPositions();
    if (expunged.length > 0 && allowed !== 'all') return '';
    const text = this.expungeResponses(expunged);
    this.uids = this.shared.uids;
    this.length -= expunged.length;
    return text;
  }

  /** EXPUNGE responses, or one VANISHED response for a client that knows messages by UID. RFC 7162 3.2.10, RFC 9586 3.4. */
  private expungeResponses(positions: readonly number[]): string {
    if (positions.length === 0) return '';
    const { enabled } = this.client;
    if (enabled.has('QRESYNC') || enabled.has('UIDONLY')) {
      return `* VANISHED ${uidSet(positions.map((at) => this.uids[at] ?? 0))}\r\n`;
    }
    // From the last to the first, so that no EXPUNGE changes the numbers of those after it.
    const lines = positions.map((at) => `* ${at + 1} EXPUNGE\r\n`);
    return lines.reverse().join('');
  }

  /** Positions, ascending, of expunged messages that the client still counts. */
  private expungedPositions(): number[] {
    const positions: number[] = [];
    const { uids, length } = this.shared;
    let position = 0;
    for (let at = 0; at < this.length; at += 1) {
      const uid = this.uids[at] ?? 0;
      while (position < length && (uids[position] ?? 0) < uid) position += 1;
      if (position < length && uids[position] === uid) position += 1;
      else positions.push(at);
    }
    return positions;
  }

  private takeExists(): string {
    // A deferred EXPUNGE defers EXISTS too: the count must not go down without EXPUNGE.
    if (this.shared.uids !== this.uids) return '';
    this.countedModseq = this.shared.highestModseq;
    this.uidNext = this.shared.uidNext;
    if (this.shared.length <= this.length) return '';
    this.length = this.shared.length;
    this.recent.update();
    return `* ${this.length} EXISTS\r\n${this.takeRecent()}`;
  }

  /** RFC 3501 7.3.2: RECENT follows EXISTS; IMAP4rev2 does not have it. */
  private takeRecent(): string {
    const count = this.recentCount;
    if (count === this.reportedRecent || this.client.enabled.has('IMAP4rev2')) return '';
    this.reportedRecent = count;
    return `* ${count} RECENT\r\n`;
  }

  /** FETCH responses for flags that others changed on messages up to UID `last`; later ones were not reported yet. */
  private takeFlagUpdates(last: number): string {
    const { shared } = this;
    if (shared.highestModseq <= this.reportedModseq || !this.reportsFlags) return '';
    const changes = shared.changesSince(this.reportedModseq);
    const own = new Set(this.ownModseqs);
    const changed = changes === undefined ? this.newerThan(this.reportedModseq, own) : changedByOthers(changes, own);
    const { enabled } = this.client;
    this.reportedModseq = shared.highestModseq;
    this.ownModseqs = undefined;
    const lines: string[] = [];
    for (const uid of changed) {
      const sequence = uid <= last && shared.indexOf(uid) >= 0 ? this.sequenceOf(uid) : 0;
      if (sequence === 0) continue;
      const modseq = shared.modseq(uid);
      lines.push(changeLine({ sequence, uid, flags: this.flagsOf(uid).text, modseq }, enabled));
    }
    return lines.join('');
  }

  private newerThan(since: number, own: ReadonlySet<number>): number[] {
    return Array.from(this.shared.uidsChangedSince(since)).filter((uid) => !own.has(this.shared.modseq(uid)));
  }
}

function changedByOthers(changes: readonly ViewChange[], own: ReadonlySet<number>): Set<number> {
  const changed = new Set<number>();
  for (const { modseq, flags } of changes) {
    if (!own.has(modseq)) for (const uid of flags) changed.add(uid);
  }
  return changed;
}
