import { messageRows } from '../store/content.ts';
import { appendMessage, copyEntries, expunge, SLICE, storeFlags } from '../store/entry-commands.ts';
import type { Command } from '../store/engine/types.ts';
import {
  createMailbox,
  findMailbox,
  listMailboxes,
  type MailboxInfo,
  type MailboxRole,
  removeMailbox,
  renameMailbox,
  subscribeMailbox,
} from '../store/mailbox.ts';
import { MessageWriter } from '../store/message-writer.ts';
import type { Hand } from '../store/hand.ts';
import type { MailStore } from '../store/store.ts';
import { readsAsPerson, veiled } from '../store/veil.ts';
import type { AppendOutcome, AppendSink, ContentRef, FlagSet, ImapStore, MailboxView, MessageRow } from './needs.ts';
import { mergeUids } from './search/bind.ts';
import { glance } from './search/evaluate.ts';
import type { SearchProgram } from './search/program.ts';
import { imapSearch } from './search/query.ts';

const MOST_BYTES = 1024 * 1024;

/** Told of messages whose text is about to be shown; they are shown when it resolves. */
export type Shown = (emails: readonly number[]) => Promise<void>;

/** What the IMAP door needs, out of the store, for one account. */
export class StoreBackend implements ImapStore {
  readonly #store: MailStore;
  readonly #account: number;
  readonly #clock: () => number;
  readonly #shown: Shown;
  readonly #handed: Shown;
  readonly #opened: Shown;
  readonly #hand: Hand | undefined;

  /** `hand`: whose password opened it; left out, nothing can be decided with it that waits for a person. */
  constructor(
    store: MailStore,
    account: number,
    clock: () => number,
    {
      shown = () => Promise.resolve(),
      handed = () => Promise.resolve(),
      opened = () => Promise.resolve(),
      hand,
    }: { shown?: Shown; handed?: Shown; opened?: Shown; hand?: Hand } = {},
  ) {
    this.#hand = hand;
    this.#store = store;
    this.#account = account;
    this.#clock = clock;
    this.#shown = shown;
    this.#handed = handed;
    this.#opened = opened;
  }

  mailboxes(): Promise<MailboxInfo[]> {
    return this.#store.read(listMailboxes, { account: this.#account });
  }

  mailbox(name: string): Promise<MailboxInfo | undefined> {
    return this.#store.read(findMailbox, { account: this.#account, name });
  }

  create(name: string, role?: MailboxRole): ReturnType<ImapStore['create']> {
    return this.#store.write(createMailbox, { account: this.#account, name, role: role ?? null });
  }

  remove(name: string): ReturnType<ImapStore['remove']> {
    return this.#store.write(removeMailbox, { account: this.#account, name, hand: this.#hand });
  }

  async rename(from: string, to: string): ReturnType<ImapStore['rename']> {
    if (from !== 'INBOX') return this.#store.write(renameMailbox, { account: this.#account, from, to });
    // RFC 9051 6.3.6: the messages move to a new mailbox, INBOX and what hangs below it stay.
    const made = await this.create(to);
    if (made.kind !== 'created') return made.kind;
    const inbox = await this.mailbox('INBOX');
    if (inbox === undefined) return 'missing';
    const view = this.#store.view(this.#account, inbox.id);
    try {
      await this.copy(inbox.id, Array.from(view.uids.subarray(0, view.length)), to, true);
    } finally {
      view.close();
    }
    return 'renamed';
  }

  subscribe(name: string, on: boolean): ReturnType<ImapStore['subscribe']> {
    return this.#store.write(subscribeMailbox, { account: this.#account, name, on });
  }

  open(mailbox: number): Promise<MailboxView> {
    return Promise.resolve(this.#store.view(this.#account, mailbox));
  }

  async rows(mailbox: number, uids: readonly number[], want: { structure: boolean }): Promise<MessageRow[]> {
    const asked = { account: this.#account, mailbox, uids, structure: want.structure };
    const rows = await this.#store.read(messageRows, asked);
    // Without their structure they say when a message came, and how large it is.
    if (want.structure) await this.#shown(rows.map(({ emailId }) => emailId));
    return rows;
  }

  handed(rows: readonly MessageRow[]): Promise<void> {
    return this.#handed(rows.map(({ emailId }) => emailId));
  }

  opened(rows: readonly MessageRow[]): Promise<void> {
    return this.#opened(rows.map(({ emailId }) => emailId));
  }

  async bytes(content: ContentRef, start: number, count: number): Promise<Buffer> {
    const { trace, blob, length } = content;
    const end = Math.min(start + Math.min(count, MOST_BYTES), trace.length + length);
    if (start >= end) return Buffer.alloc(0);
    const head = Buffer.from(trace.slice(start, Math.min(end, trace.length)), 'latin1');
    const from = Math.max(0, start - trace.length);
    const octets = await this.#store.blob(blob, from, end - trace.length - from);
    const body = await this.#asShown(content, octets, from);
    return head.length === 0 ? body : Buffer.concat([head, body]);
  }

  /** Of a message that acts for a person only a person is shown more than its header. */
  async #asShown({ veiledFrom }: ContentRef, octets: Buffer, from: number): Promise<Buffer> {
    if (veiledFrom === null || (await this.#isPerson())) return octets;
    return veiled(octets, from, veiledFrom);
  }

  #isPerson(): Promise<boolean> {
    return this.#store.read(readsAsPerson, { account: this.#account, hand: this.#hand });
  }

  async store(
    mailbox: number,
    uids: readonly number[],
    how: 'add' | 'remove' | 'replace',
    flags: FlagSet,
    unchangedSince?: number,
  ): ReturnType<ImapStore['store']> {
    const modseqs: number[] = [];
    const modified: number[] = [];
    for (const slice of slices(uids)) {
      const input = {
        account: this.#account,
        mailbox,
        uids: slice,
        how,
        flags,
        unchangedSince: unchangedSince ?? null,
        hand: this.#hand,
      };
      const done = await this.#write(slice, uids, storeFlags, input);
      if (done.kind === 'too-many-keywords') return done;
      if (done.kind === 'missing') break;
      if (done.modseq !== null) modseqs.push(done.modseq);
      modified.push(...done.modified);
    }
    return { modseqs, modified };
  }

  async copy(mailbox: number, uids: readonly number[], to: string, move: boolean): ReturnType<ImapStore['copy']> {
    const target = await this.mailbox(to);
    if (target === undefined) return { kind: 'missing' };
    const pairs = { from: [] as number[], to: [] as number[] };
    try {
      return await this.#copySlices(mailbox, uids, target, move, pairs);
    } catch (error) {
      // What is told is why it failed, also when taking back fails too.
      if (!move) await this.#takeBack(target.id, pairs.to).catch(() => undefined);
      throw error;
    }
  }

  async #copySlices(
    mailbox: number,
    uids: readonly number[],
    target: MailboxInfo,
    move: boolean,
    pairs: { from: number[]; to: number[] },
  ): ReturnType<ImapStore['copy']> {
    let modseq = target.highestModseq;
    for (const slice of slices(uids)) {
      const input = { account: this.#account, mailbox, uids: slice, to: target.id, move, hand: this.#hand };
      const done = await this.#write(slice, uids, copyEntries, input);
      if (done.kind !== 'done') {
        if (!move) await this.#takeBack(target.id, pairs.to);
        return pairs.to.length > 0 && move ? { kind: 'done', uidValidity: target.uidValidity, ...pairs, modseq } : done;
      }
      pairs.from.push(...done.from);
      pairs.to.push(...done.to);
      modseq = done.modseq;
    }
    return { kind: 'done', uidValidity: target.uidValidity, ...pairs, modseq };
  }

  async expunge(mailbox: number, uids: readonly number[]): ReturnType<ImapStore['expunge']> {
    const gone: number[] = [];
    let modseq = 0;
    let kept: string | undefined;
    for (const slice of slices(uids)) {
      const input = { account: this.#account, mailbox, uids: slice, hand: this.#hand };
      const done = await this.#write(slice, uids, expunge, input);
      gone.push(...done.uids);
      modseq = done.modseq ?? modseq;
      kept ??= done.kept;
    }
    return { uids: gone, modseq, ...(kept !== undefined && { kept }) };
  }

  append(_size: number): ReturnType<ImapStore['append']> {
    const why = this.#store.unavailable();
    if (why !== undefined) return { kind: 'unavailable', why: why.message };
    return new AppendedMessage(this.#store, this.#account, this.#clock, this.#hand);
  }

  async search(mailbox: number, view: MailboxView, plan: SearchProgram): ReturnType<ImapStore['search']> {
    const { found, open } = glance(plan, view.uids, view.length, view);
    if (open.uids.length === 0) return found;
    const blobs = this.#store.files.directory;
    const isPerson = await this.#isPerson();
    const input = { account: this.#account, mailbox, program: plan, open, blobs, now: this.#clock(), isPerson };
    const outcome = await this.#store.scan(imapSearch, input);
    return outcome.kind === 'too-long' ? outcome : mergeUids(found, outcome.uids);
  }

  /** One short command goes with everybody's; long work waits in the second lane, a slice a batch. */
  #write<I, O>(slice: readonly number[], all: readonly number[], what: Command<I, O>, input: I): Promise<O> {
    return slice.length === all.length ? this.#store.write(what, input) : this.#store.writeSlice(what, input);
  }

  /** RFC 9051 6.4.7: COPY is all or nothing. What earlier slices made is taken back. */
  async #takeBack(mailbox: number, uids: readonly number[]): Promise<void> {
    await this.store(mailbox, uids, 'add', { bits: 16, keywords: [] });
    await this.expunge(mailbox, uids);
  }
}

/** A message that a client brings. */
class AppendedMessage implements AppendSink {
  readonly #store: MailStore;
  readonly #account: number;
  readonly #clock: () => number;
  readonly #hand: Hand | undefined;
  readonly #writer: MessageWriter;

  constructor(store: MailStore, account: number, clock: () => number, hand: Hand | undefined) {
    this.#hand = hand;
    this.#store = store;
    this.#account = account;
    this.#clock = clock;
    this.#writer = new MessageWriter(store);
  }

  write(chunk: Buffer): Promise<void> | undefined {
    return this.#writer.write(chunk);
  }

  async finish(into: { mailbox: string; flags: FlagSet; receivedAt: number | undefined }): Promise<AppendOutcome> {
    const account = this.#account;
    const target = await this.#store.read(findMailbox, { account, name: into.mailbox });
    if (target === undefined) {
      this.abort();
      return { kind: 'missing' };
    }
    const { flags, receivedAt = this.#clock() } = into;
    const where = { account, mailbox: target.id, flags, receivedAt, hand: this.#hand };
    return this.#writer.finish(
      (message) => this.#store.write(appendMessage, { ...where, ...message }),
      (outcome) => outcome.kind === 'appended',
    );
  }

  abort(): void {
    this.#writer.abort();
  }
}

function* slices(uids: readonly number[]): Iterable<readonly number[]> {
  for (let at = 0; at < uids.length; at += SLICE) yield uids.slice(at, at + SLICE);
}
