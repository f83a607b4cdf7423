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
  ViewChange,
} from '../../mail/imap/imap-store.ts';
import type { SearchProgram } from '../../mail/imap/search/program.ts';
import { evaluateSearch } from './fake-imap-search.ts';
import { structureOf } from './fake-imap-structure.ts';

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

  changesSince(since: number): readonly ViewChange[] | undefined {
    if (this.owner.forgetChanges) return undefined;
    return this.changes.filter((change) => change.modseq > since);
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
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
      if (message !== undefined) this.expunged.set(uid, message);
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
  forgetChanges = false;
  /** Expunged rows are not kept. */
  forgetExpunged = false;
  /** Octets that still fit. */
  room = Number.POSITIVE_INFINITY;
  maxMessageBytes = 25 * 1024 * 1024;
  /** Octets of messages that were asked for. */
  bytesRead = 0;
  /** Appends that were begun and neither finished nor aborted. */
  openSinks = 0;
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
      if (this.find(parent) === undefined) this.make(parent, null);
    }
    return { kind: 'created', id: this.make(name, role ?? null).mailbox };
  }

  async remove(name: string): ReturnType<ImapStore['remove']> {
    await this.write();
    if (name === 'INBOX') return 'is-inbox';
    const box = this.find(name);
    if (box === undefined) return 'missing';
    if (this.hasChildren(name)) return 'has-children';
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
    return 'renamed';
  }

  async subscribe(name: string, on: boolean): Promise<'done' | 'missing'> {
    await this.write();
    const box = this.find(name);
    if (box === undefined) return 'missing';
    box.subscribed = on;
    return 'done';
  }

  open(mailbox: number): Promise<MailboxView> {
    const box = this.box(mailbox);
    box.opened += 1;
    return Promise.resolve(box);
  }

  async rows(mailbox: number, uids: readonly number[], want: { structure: boolean }): Promise<MessageRow[]> {
    await Promise.resolve();
    if (uids.length > 500) throw new Error('more than 500 rows asked for');
    const box = this.box(mailbox);
    const rows: MessageRow[] = [];
    for (const uid of uids) {
      const message = box.messages.get(uid) ?? (this.forgetExpunged ? undefined : box.expunged.get(uid));
      if (message === undefined) continue;
      const row: MessageRow = {
        uid,
        emailId: uid,
        threadId: uid,
        size: message.bytes.length,
        receivedAt: message.receivedAt,
        content: { trace: '', redactedFrom: null, blob: this.blob(message.bytes), length: message.bytes.length },
      };
      if (want.structure) row.structure = structureOf(message.bytes);
      rows.push(row);
    }
    return rows;
  }

  bytes(content: ContentRef, start: number, length: number): Promise<Buffer> {
    if (length > 1024 * 1024) throw new Error('more than 1 MiB asked for');
    const whole = this.blobs[content.blob] ?? Buffer.alloc(0);
    this.bytesRead += length;
    return Promise.resolve(whole.subarray(start, start + length));
  }

  async store(
    mailbox: number,
    uids: readonly number[],
    how: 'add' | 'remove' | 'replace',
    flags: FlagSet,
  ): ReturnType<ImapStore['store']> {
    await this.write();
    const box = this.box(mailbox);
    if (this.keywords.length + flags.keywords.length > 43) return { kind: 'too-many-keywords' };
    const mask = this.mask(flags);
    const touched: number[] = [];
    const modseq = this.modseq + 1;
    for (const uid of uids) {
      const message = box.messages.get(uid);
      if (message === undefined) continue;
      const next = change(message.bits, how, mask);
      if (next === message.bits) continue;
      message.bits = next;
      message.modseq = modseq;
      touched.push(uid);
    }
    if (touched.length === 0) return { modseqs: [], modified: [] };
    this.tick();
    box.highestModseq = modseq;
    box.changes.push({ modseq, flags: touched });
    box.changed();
    return { modseqs: [modseq], modified: [] };
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

  finishAppend(bytes: Buffer, into: Parameters<AppendSink['finish']>[0]): AppendOutcome {
    const box = this.find(into.mailbox);
    if (box === undefined) return { kind: 'missing' };
    if (bytes.length > this.maxMessageBytes) return { kind: 'too-big' };
    const modseq = this.tick();
    const uid = box.add(bytes, this.mask(into.flags), into.receivedAt ?? 1_700_000_000_000, modseq);
    box.changed();
    return { kind: 'appended', mailbox: box.mailbox, uidValidity: box.uidValidity, uid, modseq };
  }

  search(_mailbox: number, view: MailboxView, program: SearchProgram): ReturnType<ImapStore['search']> {
    return evaluateSearch(this, view, program);
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
  private readonly store: FakeImapStore;

  constructor(store: FakeImapStore) {
    this.store = store;
  }

  /** Waits a turn, so that a missing await in the server is detected. */
  write(chunk: Buffer): Promise<void> {
    this.chunks.push(Buffer.from(chunk));
    return Promise.resolve();
  }

  async finish(into: Parameters<AppendSink['finish']>[0]): Promise<AppendOutcome> {
    this.store.openSinks -= 1;
    await this.store.write();
    return this.store.finishAppend(Buffer.concat(this.chunks), into);
  }

  abort(): void {
    this.store.openSinks -= 1;
  }
}

/** Bits go to 2^47, beyond what `&` and `|` of numbers hold. */
function change(bits: number, how: 'add' | 'remove' | 'replace', mask: number): number {
  if (how === 'replace') return mask;
  const old = BigInt(bits);
  const by = BigInt(mask);
  return Number(how === 'add' ? old | by : old & ~by);
}
