import type { OnRead, OnWords, ReadDepth } from '../agents/hooks.ts';
import { hiddenCapabilities } from '../store/account/imap-setting.ts';
import { quotaOf, type QuotaUse } from '../store/account/quota.ts';
import { messageRows } from '../store/blob/content.ts';
import { appendMessages } from '../store/mailbox/append-commands.ts';
import { MAX_LOGGED } from '../store/mailbox/flag-log.ts';
import { isUncounted, LEAST_PER_RANGE, MAX_RANGE } from '../store/mailbox/range-flags.ts';
import type { StoreFlagsResult } from '../store/mailbox/flag-change.ts';
import { contiguousRanges } from './uid-ranges.ts';
import { copyEntries, expunge, MAX_ENTRIES, MAX_FLAGGED, storeFlags } from '../store/mailbox/entry-commands.ts';
import {
  annotate,
  type AnnotateResult,
  type Annotation,
  type AnnotationChange,
  annotationsOf,
  namedAnnotations,
} from '../store/mailbox/annotation.ts';
import { type Command, StoreBusy } from '../store/engine/types.ts';
import {
  createMailbox,
  deletedOctets,
  findMailbox,
  listMailboxes,
  type MailboxInfo,
  type MailboxRole,
  removeMailbox,
  renameMailbox,
  subscribeMailbox,
} from '../store/mailbox/mailbox.ts';
import { dropFormerSubscription, formerSubscriptions } from '../store/mailbox/former-subscription.ts';
import { countRecent } from '../store/mailbox/recent.ts';
import { vanishedSince } from '../store/mailbox/vanished.ts';
import { BlobUnreadable } from '../store/blob/unreadable.ts';
import type { Actor } from '../store/actor.ts';
import type { MailStore } from '../store/store.ts';
import { readsAsHuman, redacted } from '../agents/quarantine/redact.ts';
import type {
  AppendOptions,
  AppendOutcome,
  ContentRef,
  FlagSet,
  ImapStore,
  MailboxView,
  MessageRow,
  RowRequest,
} from './imap-store.ts';
import { abortAll, AppendedMessage, appendedBlobs } from './append/appended-message.ts';
import type { TextKey } from './search/program.ts';
import { StoreSearch } from './search/store-search.ts';

const MAX_READ_BYTES = 1024 * 1024;

/** The {@link ImapStore} of one account, over the mail store. */
export class StoreBackend implements ImapStore {
  readonly #store: MailStore;
  readonly #account: number;
  readonly #clock: () => number;
  readonly #onRead: OnRead | undefined;
  readonly #onWords: OnWords | undefined;
  readonly #actor: Actor | undefined;
  readonly #logged: { above: number; inRange: number };
  readonly #search: StoreSearch;

  /**
   * `actor`: the owner of the password; left out, it can approve nothing. `logged`: flags of more messages than this, and
   * at least so many in a range, are logged.
   */
  constructor(
    store: MailStore,
    account: number,
    clock: () => number,
    {
      onRead,
      onWords,
      actor,
      logged = { above: MAX_FLAGGED, inRange: LEAST_PER_RANGE },
    }: { onRead?: OnRead; onWords?: OnWords; actor?: Actor; logged?: { above: number; inRange: number } } = {},
  ) {
    this.#actor = actor;
    this.#logged = logged;
    this.#store = store;
    this.#account = account;
    this.#clock = clock;
    this.#onRead = onRead;
    this.#onWords = onWords;
    this.#search = new StoreSearch({ store, account, clock, isPerson: () => this.#isHuman() });
  }

  async mailboxes(): Promise<MailboxInfo[]> {
    await this.#onWords?.({ account: this.#account, kinds: ['folders'], written: false });
    return this.#store.read(listMailboxes, { account: this.#account });
  }

  onChange(listener: () => void): () => void {
    return this.#store.onWakeUp(({ account }) => {
      if (account === this.#account) listener();
    });
  }

  mailbox(name: string): Promise<MailboxInfo | undefined> {
    return this.#store.read(findMailbox, { account: this.#account, name });
  }

  async create(name: string, role?: MailboxRole): ReturnType<ImapStore['create']> {
    await this.#noteName();
    // RFC 3501 6.3.6: SUBSCRIBE alone says what the user wants to see.
    return this.#store.write(createMailbox, { account: this.#account, name, role: role ?? null, subscribed: false });
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
    if (created.kind === 'forbidden') return 'is-shared';
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

  async subscribe(name: string, on: boolean): ReturnType<ImapStore['subscribe']> {
    const account = this.#account;
    const outcome = await this.#store.write(subscribeMailbox, { account, name, on });
    if (outcome === 'done' || on) return outcome;
    return this.#store.write(dropFormerSubscription, { account, name });
  }

  formerSubscriptions(): Promise<string[]> {
    return this.#store.read(formerSubscriptions, { account: this.#account });
  }

  recent(mailbox: number): Promise<number> {
    const from = this.#store.recentFrom(mailbox);
    return this.#store.read(countRecent, { account: this.#account, mailbox, from });
  }

  async quota(): Promise<QuotaUse> {
    const { use } = await this.#store.read(quotaOf, { account: this.#account });
    return use ?? { usedBytes: 0, quotaBytes: null, usedCount: 0, quotaCount: null };
  }

  deletedBytes(mailbox: number): Promise<number> {
    return this.#store.scan(deletedOctets, { account: this.#account, mailbox });
  }

  async annotations(mailbox: number): Promise<Annotation[]> {
    await this.#onWords?.({ account: this.#account, kinds: ['folders'], written: false });
    return this.#store.read(annotationsOf, { mailbox, reader: this.#account, owner: this.#account });
  }

  namedAnnotations(names: readonly string[]): Promise<Annotation[]> {
    return this.#store.read(namedAnnotations, { account: this.#account, names });
  }

  async annotate(mailbox: number, changes: readonly AnnotationChange[]): Promise<AnnotateResult> {
    await this.#noteName();
    return this.#store.write(annotate, { mailbox, reader: this.#account, owner: this.#account, changes });
  }

  hiddenCapabilities(): Promise<readonly string[]> {
    return this.#store.read(hiddenCapabilities, { account: this.#account });
  }

  async open(mailbox: number): Promise<MailboxView> {
    // FLAGS lists the keywords of the mailbox.
    await this.#onWords?.({ account: this.#account, kinds: ['labels'], written: false });
    return this.#store.view(this.#account, mailbox);
  }

  vanished(mailbox: number, since: number): ReturnType<ImapStore['vanished']> {
    return this.#store.read(vanishedSince, { account: this.#account, mailbox, modseq: since });
  }

  rows(mailbox: number, uids: readonly number[], want: RowRequest): Promise<MessageRow[]> {
    const { structure, preview = false } = want;
    return this.#store.read(messageRows, { account: this.#account, mailbox, uids, structure, preview });
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

  beginnings(blobs: readonly number[], most: number): Promise<ReadonlyMap<number, Buffer>> {
    return this.#store.smallBlobs(blobs, most);
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
    const change = { how, flags, unchangedSince: unchangedSince ?? null };
    // Each change of an agent is recorded for undo, one by one.
    const isFast = uids.length > this.#logged.above && isUncounted(change) && (await this.#isHuman());
    const logged = isFast ? await this.#logFlags(mailbox, uids, change) : undefined;
    if (logged?.kind === 'done') return { modseqs: logged.modseq === null ? [] : [logged.modseq], modified };
    for (const slice of slices(uids, isFast ? MAX_RANGE : MAX_FLAGGED)) {
      const input = { account: this.#account, mailbox, uids: slice, actor: this.#actor, ...change };
      const done = await this.#write(slice, uids, storeFlags, input);
      if (done.kind === 'too-many-keywords') return done;
      if (done.kind === 'missing') break;
      if (done.modseq !== null) modseqs.push(done.modseq);
      modified.push(...done.modified);
    }
    return { modseqs, modified };
  }

  /** Logs a change of ranges. Undefined: there are too many of them, or the store needs the rows now. */
  async #logFlags(
    mailbox: number,
    uids: readonly number[],
    { how, flags }: { how: 'add' | 'remove' | 'replace'; flags: FlagSet },
  ): Promise<StoreFlagsResult | undefined> {
    const ranges = uids.length > MAX_LOGGED ? undefined : contiguousRanges(uids);
    if (how === 'replace' || ranges === undefined || ranges.length * this.#logged.inRange > uids.length)
      return undefined;
    return this.#store.logFlags({ account: this.#account, mailbox, ranges, how, flags });
  }

  async copy(mailbox: number, uids: readonly number[], to: string, move: boolean): ReturnType<ImapStore['copy']> {
    const target = await this.mailbox(to);
    if (target === undefined) return { kind: 'missing' };
    const pairs = { from: [] as number[], to: [] as number[] };
    try {
      return await this.#copySlices(mailbox, uids, target, move, pairs);
    } catch (error) {
      // Throws the first error, also when the rollback fails too.
      if (!move) await this.rollBackCopy(target.id, pairs.to).catch(() => undefined);
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
        if (!move) await this.rollBackCopy(target.id, pairs.to);
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

  append(_size: number, options: AppendOptions = { inFile: false }): ReturnType<ImapStore['append']> {
    const why = this.#store.unavailable();
    if (why !== undefined) return { kind: 'unavailable', why: why.message };
    return new AppendedMessage(this.#store, options);
  }

  async finishAppends({
    mailbox,
    messages,
    replaces,
  }: Parameters<ImapStore['finishAppends']>[0]): Promise<AppendOutcome> {
    const account = this.#account;
    const written = messages.map((one) => ({ ...one, sink: one.sink as AppendedMessage }));
    const target = await this.#store.read(findMailbox, { account, name: mailbox });
    const outcome: AppendOutcome =
      target === undefined
        ? { kind: 'missing' }
        : await this.#store
            .write(appendMessages, {
              account,
              mailbox: target.id,
              ...appendedBlobs(written, this.#clock()),
              replaces: replaces ?? null,
              actor: this.#actor,
            })
            .catch((error: unknown) => {
              // After any other failure the rows may be on disk, and need their files.
              if (error instanceof StoreBusy) abortAll(written);
              throw error;
            });
    if (outcome.kind === 'appended') for (const { sink } of written) sink.release();
    else abortAll(written);
    return outcome;
  }

  search(...[mailbox, view, program, options]: Parameters<ImapStore['search']>): ReturnType<ImapStore['search']> {
    return this.#search.search(mailbox, view, program, options);
  }

  thread(...[mailbox, view, program, how]: Parameters<ImapStore['thread']>): ReturnType<ImapStore['thread']> {
    return this.#search.thread(mailbox, view, program, how);
  }

  relevant(mailbox: number, key: TextKey): Promise<ReadonlyMap<number, number> | undefined> {
    return this.#search.relevant(mailbox, key);
  }

  /** Writes a short command in the common batch; slices of long ones go to the low-priority queue. */
  #write<I, O>(slice: readonly number[], all: readonly number[], what: Command<I, O>, input: I): Promise<O> {
    return slice.length === all.length ? this.#store.write(what, input) : this.#store.writeSlice(what, input);
  }

  /** Removes what a refused COPY has made so far: it copies all messages or none. RFC 9051 6.4.7. */
  async rollBackCopy(mailbox: number, uids: readonly number[]): Promise<void> {
    await this.store(mailbox, uids, 'add', { bits: 16, keywords: [] });
    await this.expunge(mailbox, uids);
  }
}

/** The beginning of a cut off message; without any octets the error stays. */
function readableOctets(error: unknown): Buffer {
  if (error instanceof BlobUnreadable && error.octets.length > 0) return error.octets;
  throw error;
}

function* slices(uids: readonly number[], most = MAX_ENTRIES): Iterable<readonly number[]> {
  for (let at = 0; at < uids.length; at += most) yield uids.slice(at, at + most);
}
