import type { OnRead, OnWords, ReadDepth } from '../agents/hooks.ts';
import { messageRows } from '../store/blob/content.ts';
import { appendMessage, copyEntries, expunge, MAX_ENTRIES, storeFlags } from '../store/mailbox/entry-commands.ts';
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
} from '../store/mailbox/mailbox.ts';
import { BlobUnreadable } from '../store/blob/unreadable.ts';
import { MessageWriter } from '../store/blob/message-writer.ts';
import type { Actor } from '../store/actor.ts';
import type { MailStore } from '../store/store.ts';
import { readsAsHuman, redacted } from '../agents/quarantine/redact.ts';
import type {
  AppendOutcome,
  AppendSink,
  ContentRef,
  FlagSet,
  ImapStore,
  MailboxView,
  MessageRow,
} from './imap-store.ts';
import { mergeUids } from './search/bind.ts';
import { matchByFlags } from './search/evaluate.ts';
import type { SearchProgram } from './search/program.ts';
import { imapSearch } from './search/query.ts';

const MAX_READ_BYTES = 1024 * 1024;

/** The {@link ImapStore} of one account, over the mail store. */
export class StoreBackend implements ImapStore {
  readonly #store: MailStore;
  readonly #account: number;
  readonly #clock: () => number;
  readonly #onRead: OnRead | undefined;
  readonly #onWords: OnWords | undefined;
  readonly #actor: Actor | undefined;

  /** `actor`: the owner of the password; left out, it can approve nothing. */
  constructor(
    store: MailStore,
    account: number,
    clock: () => number,
    { onRead, onWords, actor }: { onRead?: OnRead; onWords?: OnWords; actor?: Actor } = {},
  ) {
    this.#actor = actor;
    this.#store = store;
    this.#account = account;
    this.#clock = clock;
    this.#onRead = onRead;
    this.#onWords = onWords;
  }

  async mailboxes(): Promise<MailboxInfo[]> {
    await this.#onWords?.({ account: this.#account, kinds: ['folders'], written: false });
    return this.#store.read(listMailboxes, { account: this.#account });
  }

  mailbox(name: string): Promise<MailboxInfo | undefined> {
    return this.#store.read(findMailbox, { account: this.#account, name });
  }

  async create(name: string, role?: MailboxRole): ReturnType<ImapStore['create']> {
    await this.#noteName();
    return this.#store.write(createMailbox, { account: this.#account, name, role: role ?? null });
  }

  remove(name: string): ReturnType<ImapStore['remove']> {
    return this.#store.write(removeMailbox, { account: this.#account, name, actor: this.#actor });
  }

  async rename(from: string, to: string): ReturnType<ImapStore['rename']> {
    if (from !== 'INBOX') {
      await this.#noteName();
      return this.#store.write(renameMailbox, { account: this.#account, from, to });
    }
    // RFC 9051 6.3.6: the messages move to a new mailbox; INBOX and its children stay.
    const created = await this.create(to);
    if (created.kind !== 'created') return created.kind;
    const inbox = await this.mailbox('INBOX');
    if (inbox === undefined) return 'missing';
    const view = await this.#store.view(this.#account, inbox.id);
    try {
      await this.copy(inbox.id, Array.from(view.uids.subarray(0, view.length)), to, true);
    } finally {
      view.close();
    }
    return 'renamed';
  }

  /** Records that a mailbox is about to be named: an agent can pass words on by it. */
  async #noteName(): Promise<void> {
    await this.#onWords?.({ account: this.#account, kinds: ['folders'], written: true });
  }

  subscribe(name: string, on: boolean): ReturnType<ImapStore['subscribe']> {
    return this.#store.write(subscribeMailbox, { account: this.#account, name, on });
  }

  async open(mailbox: number): Promise<MailboxView> {
    // FLAGS lists the keywords of the mailbox.
    await this.#onWords?.({ account: this.#account, kinds: ['labels'], written: false });
    return this.#store.view(this.#account, mailbox);
  }

  rows(mailbox: number, uids: readonly number[], want: { structure: boolean }): Promise<MessageRow[]> {
    return this.#store.read(messageRows, { account: this.#account, mailbox, uids, structure: want.structure });
  }

  async onRead(emails: readonly number[], depth: ReadDepth): Promise<void> {
    await this.#onRead?.({ account: this.#account, emails, depth });
  }

  async bytes(content: ContentRef, start: number, count: number): Promise<Buffer> {
    const { trace, blob, length } = content;
    const end = Math.min(start + Math.min(count, MAX_READ_BYTES), trace.length + length);
    if (start >= end) return Buffer.alloc(0);
    const head = Buffer.from(trace.slice(start, Math.min(end, trace.length)), 'latin1');
    const from = Math.max(0, start - trace.length);
    const octets = await this.#store.blob(blob, from, end - trace.length - from).catch(readableOctets);
    const body = await this.#redactForAgent(content, octets, from);
    return head.length === 0 ? body : Buffer.concat([head, body]);
  }

  /** Redacts the body of a quarantined message (sign-in link or code) unless a person reads it. */
  async #redactForAgent({ redactedFrom }: ContentRef, octets: Buffer, from: number): Promise<Buffer> {
    if (redactedFrom === null || (await this.#isHuman())) return octets;
    return redacted(octets, from, redactedFrom);
  }

  #isHuman(): Promise<boolean> {
    return this.#store.read(readsAsHuman, { account: this.#account, actor: this.#actor });
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
        actor: this.#actor,
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
      // Throws the first error, also when the rollback fails too.
      if (!move) await this.#rollBackCopy(target.id, pairs.to).catch(() => undefined);
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
      const input = { account: this.#account, mailbox, uids: slice, to: target.id, move, actor: this.#actor };
      const done = await this.#write(slice, uids, copyEntries, input);
      if (done.kind !== 'done') {
        if (!move) await this.#rollBackCopy(target.id, pairs.to);
        return pairs.to.length > 0 && move ? { kind: 'done', uidValidity: target.uidValidity, ...pairs, modseq } : done;
      }
      pairs.from.push(...done.from);
      pairs.to.push(...done.to);
      modseq = done.modseq;
    }
    return { kind: 'done', uidValidity: target.uidValidity, ...pairs, modseq };
  }

  async expunge(mailbox: number, uids: readonly number[]): ReturnType<ImapStore['expunge']> {
    const expunged: number[] = [];
    let modseq = 0;
    let kept: string | undefined;
    for (const slice of slices(uids)) {
      const input = { account: this.#account, mailbox, uids: slice, actor: this.#actor };
      const done = await this.#write(slice, uids, expunge, input);
      expunged.push(...done.uids);
      modseq = done.modseq ?? modseq;
      kept ??= done.kept;
    }
    return { uids: expunged, modseq, ...(kept !== undefined && { kept }) };
  }

  append(_size: number): ReturnType<ImapStore['append']> {
    const why = this.#store.unavailable();
    if (why !== undefined) return { kind: 'unavailable', why: why.message };
    return new AppendedMessage(this.#store, this.#account, this.#clock, this.#actor);
  }

  async search(mailbox: number, view: MailboxView, plan: SearchProgram): ReturnType<ImapStore['search']> {
    const { found, open } = matchByFlags(plan, view.uids, view.length, view);
    if (open.uids.length === 0) return found;
    const blobs = this.#store.files.directory;
    const isPerson = await this.#isHuman();
    const input = { account: this.#account, mailbox, program: plan, open, blobs, now: this.#clock(), isPerson };
    const { outcome, unreadable } = await this.#store.scan(imapSearch, input);
    for (const { blob, why } of unreadable) this.#store.reportUnreadable(blob, new BlobUnreadable(blob, why));
    return outcome.kind === 'too-long' ? outcome : mergeUids(found, outcome.uids);
  }

  /** Writes a short command in the common batch; slices of long ones go to the low-priority queue. */
  #write<I, O>(slice: readonly number[], all: readonly number[], what: Command<I, O>, input: I): Promise<O> {
    return slice.length === all.length ? this.#store.write(what, input) : this.#store.writeSlice(what, input);
  }

  /** Expunges the copies of earlier slices: COPY is all or nothing. RFC 9051 6.4.7. */
  async #rollBackCopy(mailbox: number, uids: readonly number[]): Promise<void> {
    await this.store(mailbox, uids, 'add', { bits: 16, keywords: [] });
    await this.expunge(mailbox, uids);
  }
}

/** A message that APPEND writes. */
class AppendedMessage implements AppendSink {
  readonly #store: MailStore;
  readonly #account: number;
  readonly #clock: () => number;
  readonly #actor: Actor | undefined;
  readonly #writer: MessageWriter;

  constructor(store: MailStore, account: number, clock: () => number, actor: Actor | undefined) {
    this.#actor = actor;
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
    const base = { account, mailbox: target.id, flags, receivedAt, actor: this.#actor };
    return this.#writer.finish(
      (message) => this.#store.write(appendMessage, { ...base, ...message }),
      (outcome) => outcome.kind === 'appended',
    );
  }

  abort(): void {
    this.#writer.abort();
  }
}

/** The beginning of a cut off message; without any octets the error stays. */
function readableOctets(error: unknown): Buffer {
  if (error instanceof BlobUnreadable && error.octets.length > 0) return error.octets;
  throw error;
}

function* slices(uids: readonly number[]): Iterable<readonly number[]> {
  for (let at = 0; at < uids.length; at += MAX_ENTRIES) yield uids.slice(at, at + MAX_ENTRIES);
}
