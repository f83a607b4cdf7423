import type { OnRead, OnWords, ReadDepth } from '../agents/hooks.ts';
import { hiddenCapabilities } from '../store/account/imap-setting.ts';
import { quotaOf, type QuotaUse } from '../store/account/quota.ts';
import { messageRows } from '../store/blob/content.ts';
import { appendMessages } from '../store/mailbox/append-commands.ts';
import {
  annotate,
  type AnnotateResult,
  type Annotation,
  type AnnotationChange,
  annotationsOf,
  namedAnnotations,
} from '../store/mailbox/annotation.ts';
import { StoreBusy } from '../store/engine/types.ts';
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
import type { PasswordActor } from '../store/actor-types.ts';
import type { MailStore } from '../store/store.ts';
import { readsAsHuman, redacted } from '../agents/quarantine/redact.ts';
import type {
  AppendOptions,
  AppendOutcome,
  ContentRef,
  ImapStore,
  MailboxView,
  MessageRow,
  RowRequest,
  TransferOutcome,
} from './imap-store.ts';
import { abortAll, AppendedMessage, appendedBlobs } from './append/appended-message.ts';
import type { TextKey } from './search/program.ts';
import { StoreSearch } from './search/store-search.ts';
import { type LoggedSizes, StoreChanges } from './store-changes.ts';

const MAX_READ_BYTES = 1024 * 1024;
/** The row of a mailbox that is not created yet. */
const NO_MAILBOX = 0;

/** The {@link ImapStore} of one account, over the mail store. */
export class StoreBackend implements ImapStore {
  readonly #store: MailStore;
  readonly #account: number;
  readonly #clock: () => number;
  readonly #onRead: OnRead | undefined;
  readonly #onWords: OnWords | undefined;
  readonly #actor: PasswordActor | undefined;
  readonly #search: StoreSearch;
  readonly #changes: StoreChanges;

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
      logged,
    }: { onRead?: OnRead; onWords?: OnWords; actor?: PasswordActor; logged?: LoggedSizes } = {},
  ) {
    this.#actor = actor;
    this.#store = store;
    this.#account = account;
    this.#clock = clock;
    this.#onRead = onRead;
    this.#onWords = onWords;
    this.#search = new StoreSearch({ store, account, clock, isPerson: () => this.#isHuman() });
    this.#changes = new StoreChanges({ store, account, clock, actor, logged, isPerson: () => this.#isHuman() });
  }

  async mailboxes(): Promise<MailboxInfo[]> {
    const found = await this.#store.read(listMailboxes, { account: this.#account });
    await this.noteShown('folders');
    return found;
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
    await this.noteName();
    // RFC 3501 6.3.6: SUBSCRIBE alone says what the user wants to see.
    return this.#store.write(createMailbox, { account: this.#account, name, role: role ?? null, subscribed: false });
  }

  remove(name: string): ReturnType<ImapStore['remove']> {
    return this.#store.write(removeMailbox, { account: this.#account, name, actor: this.#actor });
  }

  async rename(from: string, to: string): ReturnType<ImapStore['rename']> {
    if (from !== 'INBOX') {
      await this.noteName();
      return this.#store.write(renameMailbox, { account: this.#account, from, to });
    }
    const inbox = await this.mailbox('INBOX');
    if (inbox === undefined) return 'missing';
    const view = await this.#store.view(this.#account, inbox.id);
    try {
      return await this.#moveAll(inbox.id, Array.from(view.uids.subarray(0, view.length)), to);
    } finally {
      view.close();
    }
  }

  /** Moves the messages of INBOX, which stays with its children, to a new mailbox. RFC 9051 6.3.6. */
  async #moveAll(inbox: number, uids: readonly number[], to: string): ReturnType<ImapStore['rename']> {
    // Before the new mailbox is there: if it were removed again, mail that came into it meanwhile would be lost.
    const refused = await this.#changes.refusedMove(inbox, uids, NO_MAILBOX);
    if (refused?.kind === 'forbidden') return refused;
    const created = await this.create(to);
    if (created.kind === 'forbidden') return 'is-shared';
    if (created.kind !== 'created') return created.kind;
    const moved = await this.copy(inbox, uids, to, true);
    if (moved.kind === 'done') return 'renamed';
    const end = moved.kind === 'partly' ? moved.end : moved;
    if (end.kind === 'failed') throw end.error;
    return end.kind === 'forbidden' ? end : 'missing';
  }

  /** Records that a mailbox is about to be named: an agent can pass words on by it. */
  async noteName(): Promise<void> {
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
    const found = await this.#store.read(annotationsOf, { mailbox, reader: this.#account, owner: this.#account });
    await this.noteShown('folders');
    return found;
  }

  async namedAnnotations(names: readonly string[]): Promise<Annotation[]> {
    const found = await this.#store.read(namedAnnotations, { account: this.#account, names });
    await this.noteShown('folders');
    return found;
  }

  async annotate(mailbox: number, changes: readonly AnnotationChange[]): Promise<AnnotateResult> {
    await this.noteName();
    return this.#store.write(annotate, { mailbox, reader: this.#account, owner: this.#account, changes });
  }

  hiddenCapabilities(): Promise<readonly string[]> {
    return this.#store.read(hiddenCapabilities, { account: this.#account });
  }

  open(mailbox: number): Promise<MailboxView> {
    return this.#store.view(this.#account, mailbox);
  }

  /** `_mailbox`: a store of several accounts needs it. */
  onLabels(_mailbox: number): Promise<void> {
    return this.noteShown('labels');
  }

  /** Records that words are shown, after they were read: a word that came between would go unrecorded before that. */
  async noteShown(kind: 'folders' | 'labels'): Promise<void> {
    await this.#onWords?.({ account: this.#account, kinds: [kind], written: false });
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

  store(...change: Parameters<ImapStore['store']>): ReturnType<ImapStore['store']> {
    return this.#changes.store(...change);
  }

  async copy(mailbox: number, uids: readonly number[], to: string, move: boolean): Promise<TransferOutcome> {
    const target = await this.mailbox(to);
    return target === undefined ? { kind: 'missing' } : this.#changes.copy(mailbox, uids, target, move);
  }

  expunge(mailbox: number, uids: readonly number[]): ReturnType<ImapStore['expunge']> {
    return this.#changes.expunge(mailbox, uids);
  }

  /** Removes what a refused COPY has made so far: it copies all messages or none. RFC 9051 6.4.7. */
  rollBackCopy(mailbox: number, uids: readonly number[]): Promise<void> {
    return this.#changes.rollBackCopy(mailbox, uids);
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
    const outcome: AppendOutcome = await this.#store
      .write(appendMessages, {
        account,
        mailbox: mailbox.id,
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
}

/** The beginning of a cut off message; without any octets the error stays. */
function readableOctets(error: unknown): Buffer {
  if (error instanceof BlobUnreadable && error.octets.length > 0) return error.octets;
  throw error;
}
