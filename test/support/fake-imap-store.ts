import { DELETED, SEEN } from '../../mail/imap/imap-store.ts';
import type {
  AppendOutcome,
  AppendSink,
  ContentRef,
  FlagSet,
  ImapStore,
  ImapMailboxInfo,
  ImapMailboxRole,
  MailboxView,
  MessageRow,
  NewMessage,
  ReplacedMessage,
  RowRequest,
  ViewChange,
} from '../../mail/imap/imap-store.ts';
import type { QuotaUse } from '../../mail/store/account/quota.ts';
import type { Annotation, AnnotateResult, AnnotationChange } from '../../mail/store/mailbox/annotation.ts';
import { findInMemory } from './fake-imap-search.ts';
import { previewOf, structureOf } from './fake-imap-structure.ts';

const SYSTEM = ['\\Seen', '\\Answered', '\\Flagged', '\\Draft', '\\Deleted'];

interface Message {
  uid: number;
  bits: number;
  modseq: number;
  receivedAt: number;
  bytes: Buffer;
}

/** One mailbox and its one shared view. Messages arrive behind the end of `uids`; an expunge makes a new array. */
class FakeMailbox implements MailboxView {
  readonly account = 1;
  uidNext = 1;
  highestModseq = 1;
  uids = new Uint32Array(64);
  length = 0;
  gone = false;
  subscribed = true;
  /** First UID that no session was notified of. */
  claimed = 1;
  role: ImapMailboxRole | null = null;
  /** Number of sessions that have it open. */
  opened = 0;
  readonly messages = new Map<number, Message>();
  readonly expunged = new Map<number, Message>();
  readonly changes: ViewChange[] = [];
  private readonly listeners = new Set<() => void>();
  name: string;
  readonly mailbox: number;
  readonly uidValidity: number;
  readonly owner: FakeImapStore;

  constructor(owner: FakeImapStore, mailbox: number, name: string, uidValidity: number) {
    this.owner = owner;
    this.mailbox = mailbox;
    this.name = name;
    this.uidValidity = uidValidity;
  }

  get keywords(): readonly string[] {
    return this.owner.keywords;
  }

  indexOf(uid: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.uids[middle] ?? 0;
      if (found === uid) return middle;
      if (found < uid) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  bits(uid: number): number {
    return this.messages.get(uid)?.bits ?? 0;
  }

  modseq(uid: number): number {
    return this.messages.get(uid)?.modseq ?? 0;
  }

  flagNames(uid: number): readonly string[] {
    const bits = this.bits(uid);
    return [...SYSTEM, ...this.keywords].filter((_, slot) => Math.floor(bits / 2 ** slot) % 2 === 1);
  }

  get recentFrom(): number {
    return this.owner.tracksRecent ? this.claimed : this.uidNext;
  }

  claimRecent(): number {
    const from = this.recentFrom;
    this.claimed = this.uidNext;
    return from;
  }

  uidsChangedSince(modseq: number): Uint32Array {
    return this.uids.slice(0, this.length).filter((uid) => this.modseq(uid) > modseq);
  }

  changesSince(since: number): readonly ViewChange[] | undefined {
    if (this.owner.discardChanges) return undefined;
    return this.changes.filter((change) => change.modseq > since);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
    this.owner.changed();
  }

  close(): void {
    this.opened -= 1;
    if (this.opened < 0) throw new Error(`view of ${this.name} closed twice`);
  }

  add(bytes: Buffer, bits: number, receivedAt: number, modseq: number): number {
    const uid = this.uidNext;
    this.uidNext += 1;
    this.messages.set(uid, { uid, bits, modseq, receivedAt, bytes });
    if (this.length === this.uids.length) {
      const larger = new Uint32Array(this.uids.length * 2);
      larger.set(this.uids);
      this.uids = larger;
    }
    this.uids[this.length] = uid;
    this.length += 1;
    this.highestModseq = modseq;
    return uid;
  }

  drop(uids: readonly number[], modseq: number): number[] {
    const dropped = uids.filter((uid) => this.messages.has(uid));
    if (dropped.length === 0) return dropped;
    for (const uid of dropped) {
      const message = this.messages.get(uid);
      if (message !== undefined) this.expunged.set(uid, { ...message, modseq });
      this.messages.delete(uid);
    }
    const kept = this.uids.subarray(0, this.length).filter((uid) => this.messages.has(uid));
    this.uids = new Uint32Array(Math.max(64, kept.length * 2));
    this.uids.set(kept);
    this.length = kept.length;
    this.highestModseq = modseq;
    return dropped;
  }

  info(hasChildren: boolean): ImapMailboxInfo {
    const all = [...this.messages.values()];
    return {
      id: this.mailbox,
      name: this.name,
      role: this.role,
      subscribed: this.subscribed,
      hasChildren,
      uidValidity: this.uidValidity,
      uidNext: this.uidNext,
      total: all.length,
      unseen: all.filter((message) => (message.bits & SEEN) === 0).length,
      deleted: all.filter((message) => (message.bits & DELETED) !== 0).length,
      bytes: all.reduce((sum, message) => sum + message.bytes.length, 0),
      highestModseq: this.highestModseq,
    };
  }
}

/** One account in memory, with the promises of needs.ts kept. Give the same one to several sessions. */
export class FakeImapStore implements ImapStore {
  readonly boxes = new Map<number, FakeMailbox>();
  readonly keywords: string[] = [];
  /** Makes every write fail with this. */
  fail: Error | undefined;
  /** Makes `changesSince` answer undefined. */
  discardChanges = false;
  /** New messages are \Recent. Most dialogs are easier to read without. */
  tracksRecent = false;
  readonly former = new Set<string>();
  /** Expunged rows are not kept. */
  discardExpunged = false;
  /** Octets that still fit. */
  room = Number.POSITIVE_INFINITY;
  maxMessageBytes = 25 * 1024 * 1024;
  /** Usage and limits of the account. */
  use: QuotaUse = { usedBytes: 0, quotaBytes: null, usedCount: 0, quotaCount: null };
  /** METADATA entries, and the most of them. */
  entries: Annotation[] = [];
  maxEntries = 1000;
  /** Capabilities that are not listed. */
  hidden: string[] = [];
  /** Octets that are left of a damaged message, by blob. */
  readonly damaged = new Map<number, number>();
  /** Holds searches back until it is resolved. */
  heldSearch: { begun: PromiseWithResolvers<void>; end: PromiseWithResolvers<void> } | undefined;
  /** Octets of messages that were asked for. */
  bytesRead = 0;
  /** Appends that were begun and neither finished nor aborted. */
  openSinks = 0;
  /** Sessions that are notified of changes. */
  readonly listeners = new Set<() => void>();
  private modseq = 1;
  private nextId = 1;
  private readonly blobs: Buffer[] = [];

  constructor() {
    this.make('INBOX', 'inbox');
    for (const role of ['Drafts', 'Sent', 'Junk', 'Trash', 'Archive']) {
      this.make(role, role.toLowerCase() as ImapMailboxRole);
    }
  }

  /** A message arrives, as by SMTP. Answers its UID. */
  deliver(name: string, text: string | Buffer, flags: readonly string[] = [], receivedAt = 1_700_000_000_000): number {
    const box = this.find(name);
    if (box === undefined) throw new Error(`no mailbox ${name}`);
    const bytes = typeof text === 'string' ? Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'latin1') : text;
    const bits = flags.reduce((sum, flag) => sum + this.bit(flag), 0);
    const uid = box.add(bytes, bits, receivedAt, this.tick());
    box.changed();
    return uid;
  }

  find(name: string): FakeMailbox | undefined {
    return [...this.boxes.values()].find((box) => box.name === name);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls the listeners: a mailbox changed. */
  changed(): void {
    for (const listener of this.listeners) listener();
  }

  mailboxes(): Promise<ImapMailboxInfo[]> {
    return Promise.resolve([...this.boxes.values()].map((box) => box.info(this.hasChildren(box.name))));
  }

  mailbox(name: string): Promise<ImapMailboxInfo | undefined> {
    return Promise.resolve(this.find(name)?.info(this.hasChildren(name)));
  }

  async create(name: string, role?: ImapMailboxRole): ReturnType<ImapStore['create']> {
    await this.write();
    if (this.find(name) !== undefined) return { kind: 'exists' };
    if (this.boxes.size > 100) return { kind: 'too-many' };
    const levels = name.split('/');
    for (let depth = 1; depth < levels.length; depth += 1) {
      const parent = levels.slice(0, depth).join('/');
      if (this.find(parent) === undefined) this.make(parent, null).subscribed = this.former.delete(parent);
    }
    const made = this.make(name, role ?? null);
    made.subscribed = this.former.delete(name);
    this.changed();
    return { kind: 'created', id: made.mailbox };
  }

  async remove(name: string): ReturnType<ImapStore['remove']> {
    await this.write();
    if (name === 'INBOX') return 'is-inbox';
    const box = this.find(name);
    if (box === undefined) return 'missing';
    if (this.hasChildren(name)) return 'has-children';
    if (box.subscribed) this.former.add(name);
    this.boxes.delete(box.mailbox);
    box.gone = true;
    box.changed();
    return 'removed';
  }

  async rename(from: string, to: string): ReturnType<ImapStore['rename']> {
    await this.write();
    const box = this.find(from);
    if (box === undefined) return 'missing';
    if (this.find(to) !== undefined) return 'exists';
    if (to.startsWith(`${from}/`)) return 'inside-itself';
    if (from === 'INBOX') {
      await this.create(to);
      await this.copy(box.mailbox, [...box.messages.keys()], to, true);
      return 'renamed';
    }
    for (const child of this.boxes.values()) {
      if (child.name.startsWith(`${from}/`)) child.name = to + child.name.slice(from.length);
    }
    box.name = to;
    this.changed();
    return 'renamed';
  }

  async subscribe(name: string, on: boolean): Promise<'done' | 'missing'> {
    await this.write();
    const box = this.find(name);
    if (box === undefined) return !on && this.former.delete(name) ? 'done' : 'missing';
    box.subscribed = on;
    this.changed();
    return 'done';
  }

  formerSubscriptions(): Promise<string[]> {
    return Promise.resolve([...this.former].sort());
  }

  recent(mailbox: number): Promise<number> {
    const box = this.box(mailbox);
    return Promise.resolve([...box.messages.keys()].filter((uid) => uid >= box.recentFrom).length);
  }

  quota(): Promise<QuotaUse> {
    return Promise.resolve(this.use);
  }

  deletedBytes(mailbox: number): Promise<number> {
    const deleted = [...this.box(mailbox).messages.values()].filter(({ bits }) => (bits & DELETED) !== 0);
    return Promise.resolve(deleted.reduce((sum, { bytes }) => sum + bytes.length, 0));
  }

  annotations(mailbox: number): Promise<Annotation[]> {
    return Promise.resolve(this.entries.filter((each) => each.mailbox === mailbox));
  }

  namedAnnotations(names: readonly string[]): Promise<Annotation[]> {
    return Promise.resolve(this.entries.filter((each) => each.mailbox !== 0 && names.includes(each.name)));
  }

  async annotate(mailbox: number, changes: readonly AnnotationChange[]): Promise<AnnotateResult> {
    await this.write();
    if (this.entries.length + changes.length > this.maxEntries) return 'too-many';
    for (const { name, value } of changes) {
      const kept = this.entries.filter((each) => each.mailbox !== mailbox || each.name !== name);
      this.entries = value === null ? kept : [...kept, { mailbox, name, value: Buffer.from(value) }];
    }
    return 'done';
  }

  hiddenCapabilities(): Promise<readonly string[]> {
    return Promise.resolve(this.hidden);
  }

  open(mailbox: number): Promise<MailboxView> {
    const box = this.box(mailbox);
    box.opened += 1;
    return Promise.resolve(box);
  }

  vanished(mailbox: number, since: number): Promise<{ from: number; to: number }[] | undefined> {
    if (this.discardExpunged) return Promise.resolve(undefined);
    const gone = [...this.box(mailbox).expunged.values()].filter(({ modseq }) => modseq > since);
    const uids = gone.map(({ uid }) => uid).sort((a, b) => a - b);
    return Promise.resolve(uids.map((uid) => ({ from: uid, to: uid })));
  }

  async rows(mailbox: number, uids: readonly number[], want: RowRequest): Promise<MessageRow[]> {
    await Promise.resolve();
    if (uids.length > 500) throw new Error('more than 500 rows asked for');
    const box = this.box(mailbox);
    const rows: MessageRow[] = [];
    for (const uid of uids) {
      const message = box.messages.get(uid) ?? (this.discardExpunged ? undefined : box.expunged.get(uid));
      if (message === undefined) continue;
      const row: MessageRow = {
        uid,
        emailId: uid,
        threadId: uid,
        size: message.bytes.length,
        receivedAt: message.receivedAt,
        savedAt: box.messages.has(uid) ? 1_700_000_000_000 : null,
        content: { trace: '', redactedFrom: null, blob: this.blob(message.bytes), length: message.bytes.length },
      };
      if (want.structure) row.structure = structureOf(message.bytes);
      if (want.preview === true) row.preview = previewOf(message.bytes);
      rows.push(row);
    }
    return rows;
  }

  bytes(content: ContentRef, start: number, length: number): Promise<Buffer> {
    if (length > 1024 * 1024) throw new Error('more than 1 MiB asked for');
    this.bytesRead += length;
    return Promise.resolve(this.left(content.blob).subarray(start, start + length));
  }

  async beginnings(blobs: readonly number[], most: number): Promise<ReadonlyMap<number, Buffer>> {
    await Promise.resolve();
    const found = new Map(blobs.map((blob) => [blob, this.left(blob).subarray(0, most)]));
    for (const octets of found.values()) this.bytesRead += octets.length;
    return found;
  }

  async store(
    mailbox: number,
    uids: readonly number[],
    how: 'add' | 'remove' | 'replace',
    flags: FlagSet,
    unchangedSince = Number.POSITIVE_INFINITY,
  ): ReturnType<ImapStore['store']> {
    await this.write();
    const box = this.box(mailbox);
    if (this.keywords.length + flags.keywords.length > 43) return { kind: 'too-many-keywords' };
    const mask = this.mask(flags);
    const touched: number[] = [];
    const modseq = this.modseq + 1;
    const modified: number[] = [];
    for (const uid of uids) {
      const message = box.messages.get(uid);
      if (message === undefined) continue;
      if (message.modseq > unchangedSince) {
        modified.push(uid);
        continue;
      }
      const next = change(message.bits, how, mask);
      if (next === message.bits) continue;
      message.bits = next;
      message.modseq = modseq;
      touched.push(uid);
    }
    if (touched.length === 0) return { modseqs: [], modified };
    this.tick();
    box.highestModseq = modseq;
    box.changes.push({ modseq, flags: touched });
    box.changed();
    return { modseqs: [modseq], modified };
  }

  async copy(mailbox: number, uids: readonly number[], to: string, move: boolean): ReturnType<ImapStore['copy']> {
    await this.write();
    const source = this.box(mailbox);
    const target = this.find(to);
    if (target === undefined) return { kind: 'missing' };
    if (this.room <= 0) return { kind: 'over-quota' };
    const modseq = this.tick();
    const from = uids.filter((uid) => source.messages.has(uid));
    const made = from.map((uid) => {
      const message = source.messages.get(uid) as Message;
      return target.add(message.bytes, message.bits, message.receivedAt, modseq);
    });
    if (move) source.drop(from, modseq);
    if (move) source.changed();
    target.changed();
    return { kind: 'done', uidValidity: target.uidValidity, from, to: made, modseq };
  }

  async expunge(mailbox: number, uids: readonly number[]): Promise<{ uids: number[]; modseq: number }> {
    await this.write();
    const box = this.box(mailbox);
    const deleted = uids.filter((uid) => (box.bits(uid) & DELETED) !== 0);
    const modseq = deleted.length > 0 ? this.tick() : this.modseq;
    const dropped = box.drop(deleted, modseq);
    if (dropped.length > 0) box.changed();
    return { uids: dropped, modseq };
  }

  append(size: number): AppendSink | { kind: 'over-quota' } {
    if (size > this.room) return { kind: 'over-quota' };
    this.openSinks += 1;
    return new FakeSink(this);
  }

  async finishAppends({
    mailbox,
    messages,
    replaces,
  }: Parameters<ImapStore['finishAppends']>[0]): Promise<AppendOutcome> {
    const outcome = await this.storeMessages(mailbox.name, messages, replaces);
    for (const { sink } of messages) {
      if (outcome.kind === 'appended') (sink as FakeSink).stored();
      else sink.abort();
    }
    return outcome;
  }

  private async storeMessages(
    mailbox: string,
    messages: readonly NewMessage[],
    replaces: ReplacedMessage | undefined,
  ): Promise<AppendOutcome> {
    await this.write();
    const box = this.find(mailbox);
    if (box === undefined) return { kind: 'missing' };
    if (replaces !== undefined && !this.box(replaces.mailbox).messages.has(replaces.uid)) return { kind: 'gone' };
    const all = messages.map(({ sink, ...facts }) => ({ bytes: (sink as FakeSink).bytes, ...facts }));
    if (all.some(({ bytes }) => bytes.length > this.maxMessageBytes)) return { kind: 'too-big' };
    const modseq = this.tick();
    const uids = all.map(({ bytes, flags, receivedAt = 1_700_000_000_000 }) =>
      box.add(bytes, this.mask(flags), receivedAt, modseq),
    );
    if (replaces !== undefined) {
      const source = this.box(replaces.mailbox);
      source.drop([replaces.uid], modseq);
      if (source !== box) source.changed();
    }
    box.changed();
    return { kind: 'appended', mailbox: box.mailbox, uidValidity: box.uidValidity, uids, modseq };
  }

  async search(...[mailbox, view, program, options]: Parameters<ImapStore['search']>): ReturnType<ImapStore['search']> {
    this.heldSearch?.begun.resolve();
    await this.heldSearch?.end.promise;
    const { sort, scores = new Map() } = options ?? {};
    const order = sort === undefined ? undefined : ({ kind: 'sort', keys: sort, scores } as const);
    const outcome = await findInMemory(this, mailbox, view, program, order);
    return outcome.kind === 'found' ? outcome.uids : { kind: 'too-long' };
  }

  async thread(...[mailbox, view, program, how]: Parameters<ImapStore['thread']>): ReturnType<ImapStore['thread']> {
    const known = how.uid ? undefined : view.uids.slice(0, view.length);
    const order = { kind: 'thread', algorithm: how.algorithm, known } as const;
    const outcome = await findInMemory(this, mailbox, view, program, order);
    return outcome.kind === 'threads' ? outcome.text : { kind: 'too-long' };
  }

  /** Cuts the stored octets of a message off. */
  damage(name: string, uid: number, left: number): void {
    const message = this.find(name)?.messages.get(uid);
    if (message === undefined) throw new Error(`no message ${uid} in ${name}`);
    this.damaged.set(this.blob(message.bytes), left);
  }

  message(mailbox: number, uid: number): Message | undefined {
    return this.box(mailbox).messages.get(uid);
  }

  write(): Promise<void> {
    return this.fail === undefined ? Promise.resolve() : Promise.reject(this.fail);
  }

  private make(name: string, role: ImapMailboxRole | null): FakeMailbox {
    const box = new FakeMailbox(this, this.nextId, name, 1000 + this.nextId);
    box.role = role;
    this.boxes.set(this.nextId, box);
    this.nextId += 1;
    return box;
  }

  private box(mailbox: number): FakeMailbox {
    const box = this.boxes.get(mailbox);
    if (box === undefined) throw new Error(`no mailbox ${mailbox}`);
    return box;
  }

  private hasChildren(name: string): boolean {
    return [...this.boxes.values()].some((box) => box.name.startsWith(`${name}/`));
  }

  private tick(): number {
    this.modseq += 1;
    return this.modseq;
  }

  private blob(bytes: Buffer): number {
    const known = this.blobs.indexOf(bytes);
    return known >= 0 ? known : this.blobs.push(bytes) - 1;
  }

  /** The stored octets, without those that were cut off. */
  private left(blob: number): Buffer {
    return (this.blobs[blob] ?? Buffer.alloc(0)).subarray(0, this.damaged.get(blob));
  }

  private mask(flags: FlagSet): number {
    return flags.bits + [...new Set(flags.keywords.map((name) => this.bit(name)))].reduce((sum, bit) => sum + bit, 0);
  }

  private bit(flag: string): number {
    const system = SYSTEM.indexOf(flag);
    if (system >= 0) return 2 ** system;
    let slot = this.keywords.findIndex((name) => name.toLowerCase() === flag.toLowerCase());
    if (slot < 0) slot = this.keywords.push(flag) - 1;
    return 2 ** (slot + SYSTEM.length);
  }
}

class FakeSink implements AppendSink {
  private readonly chunks: Buffer[] = [];
  private isEnded = false;
  private readonly store: FakeImapStore;

  constructor(store: FakeImapStore) {
    this.store = store;
  }

  /** Waits a turn, so that a missing await in the server is detected. */
  write(chunk: Buffer): Promise<void> {
    this.chunks.push(Buffer.from(chunk));
    return Promise.resolve();
  }

  close(): Promise<number | undefined> {
    return Promise.resolve(this.bytes.length);
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  stored(): void {
    if (!this.isEnded) this.store.openSinks -= 1;
    this.isEnded = true;
  }

  abort(): void {
    this.stored();
  }
}

/** Bits go to 2^47, beyond what `&` and `|` of numbers hold. */
function change(bits: number, how: 'add' | 'remove' | 'replace', mask: number): number {
  if (how === 'replace') return mask;
  const old = BigInt(bits);
  const by = BigInt(mask);
  return Number(how === 'add' ? old | by : old & ~by);
}
