import type { Reads, ReadStatement } from '../engine/reads.ts';
import type { RangeFlags, Row, UidRange } from '../engine/types.ts';
import { type LoggedRange, loggedRanges } from './flag-log.ts';
import { kwList } from './flags.ts';
import type { MailboxView, ViewChange } from './view-types.ts';

const SYSTEM_FLAGS = ['\\Seen', '\\Answered', '\\Flagged', '\\Draft', '\\Deleted'] as const;
/** Maximum recorded changes; sessions that idled longer compare everything. */
const MAX_CHANGES = 512;

/** Keyword names of one account by slot, shared by all its views. Grows only. */
export interface Keywords {
  bySlot: Map<number, string>;
  names: string[];
}

interface EntryState extends Record<string, number | string | null> {
  uid: number;
  flags: number;
  kw: string | null;
  modseq: number;
}

interface MailboxState extends Record<string, number> {
  uidvalidity: number;
  uidnext: number;
  highestmodseq: number;
  recent_from: number;
  gone: number;
}

function isGone(row: Row | undefined): boolean {
  return row === undefined || row['gone'] === 1;
}

// New messages are found by their UIDs; the index has those that changed later.
const CHANGED = `SELECT uid, flags, kw, modseq FROM entry INDEXED BY entry_changed
    WHERE mailbox_id = ?1 AND +uid < ?3 AND modseq > ?2 AND modseq <> entered_modseq
  UNION ALL SELECT uid, flags, kw, modseq FROM entry WHERE mailbox_id = ?1 AND uid >= ?3 ORDER BY uid`;

/** One mailbox in memory: 16 octets a message, shared by every session that has it open. */
export class SharedView implements MailboxView {
  readonly account: number;
  readonly mailbox: number;
  uidValidity = 0;
  uidNext = 1;
  highestModseq = 0;
  uids = new Uint32Array(0);
  length = 0;
  gone = false;
  recentFrom = 0;
  users = 0;
  readonly #keywords: Keywords;
  #flags = new Uint32Array(0);
  #modseqs = new Float64Array(0);
  /** By UID: keywords of the messages that have more than the account has bits for. */
  readonly #overflowKeywords = new Map<number, readonly string[]>();
  readonly #names = new Map<number, readonly string[]>();
  /** Index that was found last: mostly the same message is asked for again, or the next one. */
  #lastIndex = 0;
  #changes: ViewChange[] = [];
  #changesFrom = 0;
  readonly #listeners = new Set<() => void>();
  readonly #closed: (view: SharedView) => void;

  constructor(account: number, mailbox: number, keywords: Keywords, closed: (view: SharedView) => void) {
    this.account = account;
    this.mailbox = mailbox;
    this.#keywords = keywords;
    this.#closed = closed;
  }

  /** The keywords of the account that this view names flags by. */
  get keywordsOf(): Keywords {
    return this.#keywords;
  }

  get keywords(): readonly string[] {
    return this.#keywords.names;
  }

  /**
   * Reads everything, inside one snapshot. Sessions see nothing of it before the last row is read. `isLogged`: the log of
   * flags may have changes of the account.
   */
  *load(isLogged: boolean): Reads<void> {
    const [row] = yield this.#rowStatement();
    if (isGone(row)) return this.#applyRow(row);
    const rows = (yield {
      sql: 'SELECT uid, flags, kw, modseq FROM entry WHERE mailbox_id = ? ORDER BY uid',
      params: [this.mailbox],
    }) as EntryState[];
    const logged = isLogged ? yield* loggedRanges(this, 0) : [];
    this.#applyRow(row);
    this.#grow(rows.length);
    for (const entry of rows) this.#append(entry);
    for (const range of logged) this.#flagRange(range, range);
    this.#changesFrom = this.highestModseq;
  }

  /** Reads changes since the last read, as {@link load} does. */
  *refresh(isLogged: boolean): Reads<void> {
    const since = this.highestModseq;
    const [row] = yield this.#rowStatement();
    if (isGone(row) || row?.['highestmodseq'] === since) {
      this.#applyRow(row);
      return this.#notify();
    }
    const removed = (yield {
      sql: 'SELECT uid FROM expunged WHERE mailbox_id = ? AND modseq > ? ORDER BY uid',
      params: [this.mailbox, since],
    }) as { uid: number }[];
    const rows = (yield {
      sql: CHANGED,
      params: [this.mailbox, since, this.uidNext],
    }) as EntryState[];
    const logged = isLogged ? yield* loggedRanges(this, since) : [];
    this.#applyRow(row);
    this.#applyChanges(rows, removed, logged);
  }

  #applyChanges(
    rows: readonly EntryState[],
    removed: readonly { uid: number }[],
    logged: readonly LoggedRange[],
  ): void {
    const changed = new Map<number, number[]>();
    for (const row of rows) {
      const at = this.indexOf(row.uid);
      if (at < 0) this.#append(row);
      else this.#change(at, row, changed);
    }
    for (const range of logged) addTo(changed, range.modseq, this.#flagRange(range, range));
    if (removed.length > 0) this.#remove(removed.map((row) => row.uid));
    this.#remember(changed);
    this.#notify();
  }

  /** Applies a change of flags without reading it. False if the view is of another state than right before. */
  apply({ bits, value, ranges, before, modseq }: RangeFlags): boolean {
    if (this.highestModseq !== before) return false;
    const changed = ranges.flatMap((range) => this.#flagRange(range, { bits, value, modseq }));
    this.highestModseq = modseq;
    this.#remember(new Map([[modseq, changed]]));
    this.#notify();
    return true;
  }

  /** Returns the UIDs whose flags are others now. */
  #flagRange(
    { from, to }: UidRange,
    { bits, value, modseq, whole = 0 }: Omit<RangeFlags, 'ranges' | 'before'> & { whole?: number },
  ): number[] {
    const changed: number[] = [];
    for (let at = this.#firstFrom(from); at < this.length && (this.uids[at] as number) <= to; at++) {
      const flags = this.#flags[at] as number;
      if ((flags & bits) === value && whole === 0) continue;
      this.#flags[at] = (flags & ~bits) | value;
      this.#modseqs[at] = modseq;
      changed.push(this.uids[at] as number);
    }
    return changed;
  }

  indexOf(uid: number): number {
    if (this.#isAt(this.#lastIndex, uid)) return this.#lastIndex;
    if (this.#isAt(this.#lastIndex + 1, uid)) return ++this.#lastIndex;
    return this.#search(uid);
  }

  #isAt(at: number, uid: number): boolean {
    return at < this.length && this.uids[at] === uid;
  }

  #search(uid: number): number {
    const at = this.#firstFrom(uid);
    if (!this.#isAt(at, uid)) return -1;
    this.#lastIndex = at;
    return at;
  }

  /** Index of the first UID that is not below. */
  #firstFrom(uid: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.uids[middle] as number) < uid) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  bits(uid: number): number {
    const at = this.indexOf(uid);
    return at < 0 ? 0 : (this.#flags[at] as number);
  }

  modseq(uid: number): number {
    const at = this.indexOf(uid);
    return at < 0 ? 0 : (this.#modseqs[at] as number);
  }

  uidsChangedSince(modseq: number): Uint32Array {
    const found = new Uint32Array(this.length);
    let count = 0;
    for (let at = 0; at < this.length; at++) {
      if ((this.#modseqs[at] as number) > modseq) found[count++] = this.uids[at] as number;
    }
    return found.slice(0, count);
  }

  flagNames(uid: number): readonly string[] {
    const names = this.#namesOf(this.bits(uid));
    const overflow = this.#overflowKeywords.get(uid);
    return overflow === undefined ? names : [...names, ...overflow];
  }

  changesSince(since: number): readonly ViewChange[] | undefined {
    if (since < this.#changesFrom) return undefined;
    // Searches from the end, since mostly the newest are requested.
    let from = this.#changes.length;
    while (from > 0 && (this.#changes[from - 1] as ViewChange).modseq > since) from--;
    return this.#changes.slice(from);
  }

  claimRecent(): number {
    const from = this.recentFrom;
    this.recentFrom = Math.max(from, this.uidNext);
    return from;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.users--;
    if (this.users === 0) this.#closed(this);
  }

  #rowStatement(): ReadStatement {
    return {
      sql: 'SELECT uidvalidity, uidnext, highestmodseq, recent_from, deleted_at IS NOT NULL AS gone FROM mailbox WHERE id = ? AND account_id = ?',
      params: [this.mailbox, this.account],
    };
  }

  #applyRow(found: Row | undefined): void {
    this.gone = isGone(found);
    if (this.gone) return;
    const row = found as MailboxState;
    this.uidValidity = row.uidvalidity;
    this.uidNext = row.uidnext;
    this.highestModseq = row.highestmodseq;
    this.recentFrom = Math.max(this.recentFrom, row.recent_from);
  }

  #append(row: EntryState): void {
    if (this.length === this.uids.length) this.#grow(Math.max(64, this.length + (this.length >> 2)));
    const at = this.length++;
    this.uids[at] = row.uid;
    this.#set(at, row);
  }

  #change(at: number, row: EntryState, changed: Map<number, number[]>): void {
    this.#set(at, row);
    addTo(changed, row.modseq, [row.uid]);
  }

  #set(at: number, row: EntryState): void {
    this.#flags[at] = row.flags;
    this.#modseqs[at] = row.modseq;
    if (row.kw !== null) this.#overflowKeywords.set(row.uid, kwList(row.kw));
    else this.#overflowKeywords.delete(row.uid);
  }

  /** Creates new arrays, since sessions may hold the old UID array. */
  #remove(gone: readonly number[]): void {
    const going = new Set(gone);
    const uids = new Uint32Array(this.uids.length);
    let kept = 0;
    for (let i = 0; i < this.length; i++) {
      const uid = this.uids[i] as number;
      if (going.has(uid)) {
        this.#overflowKeywords.delete(uid);
        continue;
      }
      uids[kept] = uid;
      this.#flags[kept] = this.#flags[i] as number;
      this.#modseqs[kept] = this.#modseqs[i] as number;
      kept++;
    }
    this.uids = uids;
    this.length = kept;
  }

  #grow(capacity: number): void {
    const uids = new Uint32Array(capacity);
    uids.set(this.uids.subarray(0, this.length));
    const flags = new Uint32Array(capacity);
    flags.set(this.#flags.subarray(0, this.length));
    const modseqs = new Float64Array(capacity);
    modseqs.set(this.#modseqs.subarray(0, this.length));
    // Not an expunge: the old array stays valid for its holders, but `uids ===` no longer holds, so sessions compare.
    this.uids = uids;
    this.#flags = flags;
    this.#modseqs = modseqs;
  }

  #remember(changed: ReadonlyMap<number, number[]>): void {
    if (changed.size === 0) return;
    const added = [...changed].map(([modseq, flags]) => ({ modseq, flags })).sort((a, b) => a.modseq - b.modseq);
    this.#changes.push(...added);
    if (this.#changes.length <= MAX_CHANGES) return;
    const dropped = this.#changes.splice(0, this.#changes.length - MAX_CHANGES / 2);
    this.#changesFrom = dropped.at(-1)?.modseq ?? this.#changesFrom;
  }

  #namesOf(bits: number): readonly string[] {
    const known = this.#names.get(bits);
    if (known !== undefined) return known;
    const names: string[] = SYSTEM_FLAGS.filter((_, bit) => (bits & (1 << bit)) !== 0);
    for (const [slot, name] of this.#keywords.bySlot) if ((bits & (1 << slot)) !== 0) names.push(name);
    // Bounds the cache: few combinations are in use, unless a client creates many.
    if (this.#names.size > 1000) this.#names.clear();
    this.#names.set(bits, names);
    return names;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function addTo(changed: Map<number, number[]>, modseq: number, uids: readonly number[]): void {
  const known = changed.get(modseq);
  if (known !== undefined) for (const uid of uids) known.push(uid);
  else if (uids.length > 0) changed.set(modseq, [...uids]);
}
