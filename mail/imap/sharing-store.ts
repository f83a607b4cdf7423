import {
  copyBetween,
  type CopyBetween,
  type CopyBetweenResult,
  remainingUids,
  removeCopied,
} from '../store/mailbox/copy-between.ts';
import {
  grantByLogin,
  grantsOnMailbox,
  type GrantResult,
  mailboxGrant,
  type MailboxGrant,
  sharedMailbox,
  sharedMailboxes,
  type SharingLogin,
  subscribeShared,
} from '../store/mailbox/acl.ts';
import { annotate, annotationsOf } from '../store/mailbox/annotation.ts';
import { MAX_ENTRIES } from '../store/mailbox/entry-commands.ts';
import type { MailboxInfo } from '../store/mailbox/mailbox.ts';
import type { Forbidden } from '../store/engine/types.ts';
import type { MailStore } from '../store/store.ts';
import type { ImapMailboxInfo, ImapStore, MailboxAcl, MailboxView, TransferOutcome } from './imap-store.ts';
import { revocableView } from './revocable-view.ts';
import { isSharedName, OTHER_USERS, sharedInfo, sharedName, withParents } from './shared-names.ts';
import { allowedFlags, flagSteps } from './shared-flags.ts';
import { StoreBackend } from './store-backend.ts';

type CopiedMessages = Extract<CopyBetweenResult, { kind: 'done' }>;
type BackendOptions = ConstructorParameters<typeof StoreBackend>[3];
type Options<Name extends keyof StoreBackend> = StoreBackend[Name] extends (...args: infer Args) => unknown
  ? Args
  : never;

/**
 * The store of one login with the mailboxes that others share with it. Rights are read again before each use. What this
 * class does not pass on runs in the own account, where a mailbox of another one does not exist.
 */
export class SharingStore extends StoreBackend {
  readonly otherUsers = OTHER_USERS;
  readonly #store: MailStore;
  readonly #login: SharingLogin;
  readonly #clock: () => number;
  readonly #options: BackendOptions;
  /** Mailboxes of others that this session has named, with their owners. */
  readonly #foreign = new Map<number, number>();
  readonly #owners = new Map<number, StoreBackend>();

  constructor(store: MailStore, account: number, clock: () => number, options: BackendOptions = {}) {
    super(store, account, clock, options);
    this.#store = store;
    this.#login = { account, actor: options.actor };
    this.#clock = clock;
    this.#options = options;
  }

  // Names.

  override async mailboxes(): Promise<ImapMailboxInfo[]> {
    const own = await super.mailboxes();
    const shared = await this.#store.read(sharedMailboxes, this.#login);
    for (const { info, owner } of shared) {
      this.#foreign.set(info.id, owner);
      this.#owner(owner);
    }
    const taken = new Set(own.map(({ name }) => name));
    return [...own, ...withParents(shared).filter(({ name }) => !taken.has(name))];
  }

  /** A new share wakes the own account, and a change in a known one that of its owner. */
  override onChange(listener: () => void): () => void {
    return this.#store.onWakeUp(({ account }) => {
      if (account === this.#login.account || this.#owners.has(account)) listener();
    });
  }

  override async mailbox(name: string): Promise<MailboxInfo | undefined> {
    const shared = sharedName(name);
    // A mailbox of the own account that was there before comes first.
    const own = await super.mailbox(name);
    if (shared === undefined || own !== undefined) return own;
    const found = await this.#store.read(sharedMailbox, { ...this.#login, ...shared });
    if (found === undefined || !/[lri]/.test(found.rights)) return undefined;
    this.#foreign.set(found.info.id, found.owner);
    return sharedInfo(found, found.info.hasChildren);
  }

  override async create(...args: Options<'create'>): ReturnType<ImapStore['create']> {
    return isSharedName(args[0]) ? { kind: 'forbidden', why: OWNER_ONLY } : super.create(...args);
  }

  override async remove(name: string): ReturnType<ImapStore['remove']> {
    return (await this.#isShared(name)) ? 'is-shared' : super.remove(name);
  }

  override async rename(from: string, to: string): ReturnType<ImapStore['rename']> {
    return isSharedName(to) || (await this.#isShared(from)) ? 'is-shared' : super.rename(from, to);
  }

  override async subscribe(name: string, on: boolean): ReturnType<ImapStore['subscribe']> {
    const mailbox = (await this.#isShared(name)) ? await this.mailbox(name) : undefined;
    if (mailbox === undefined) return super.subscribe(name, on);
    return this.#store.write(subscribeShared, { account: this.#login.account, mailbox: mailbox.id, on });
  }

  async #isShared(name: string): Promise<boolean> {
    const mailbox = sharedName(name) === undefined ? undefined : await this.mailbox(name);
    return mailbox !== undefined && this.#foreign.has(mailbox.id);
  }

  // Reading.

  override async open(mailbox: number): Promise<MailboxView> {
    const owner = this.#foreign.get(mailbox);
    const store = await this.#ownerWith('r', mailbox);
    if (owner === undefined || store === undefined) return super.open(mailbox);
    const inner = await store.open(mailbox);
    const stop = this.#store.onWakeUp(({ account }) => {
      if (account === owner || account === this.#login.account) void check();
    });
    const revocable = revocableView(inner, stop);
    const check = async (): Promise<void> => {
      // A failed check revokes: the session opens the mailbox again when the store can be read.
      const isLeft = await this.#grant(mailbox).then(
        (grant) => grant?.rights.includes('r') === true,
        () => false,
      );
      if (!isLeft) revocable.revoke();
    };
    return revocable.view;
  }

  override onLabels(mailbox: number): Promise<void> {
    const owner = this.#foreign.get(mailbox);
    return owner === undefined ? super.onLabels(mailbox) : this.#owner(owner).onLabels(mailbox);
  }

  override async rows(...args: Options<'rows'>): ReturnType<StoreBackend['rows']> {
    return (await this.#ownerWith('r', args[0]))?.rows(...args) ?? super.rows(...args);
  }

  override async search(...args: Options<'search'>): ReturnType<StoreBackend['search']> {
    return (await this.#ownerWith('r', args[0]))?.search(...args) ?? super.search(...args);
  }

  override async thread(...args: Options<'thread'>): ReturnType<StoreBackend['thread']> {
    return (await this.#ownerWith('r', args[0]))?.thread(...args) ?? super.thread(...args);
  }

  override async relevant(...args: Options<'relevant'>): ReturnType<StoreBackend['relevant']> {
    return (await this.#ownerWith('r', args[0]))?.relevant(...args) ?? super.relevant(...args);
  }

  override async vanished(...args: Options<'vanished'>): ReturnType<StoreBackend['vanished']> {
    return (await this.#ownerWith('r', args[0]))?.vanished(...args) ?? super.vanished(...args);
  }

  override async recent(mailbox: number): Promise<number> {
    return (await this.#ownerWith('r', mailbox))?.recent(mailbox) ?? super.recent(mailbox);
  }

  override async deletedBytes(mailbox: number): Promise<number> {
    return (await this.#ownerWith('r', mailbox))?.deletedBytes(mailbox) ?? super.deletedBytes(mailbox);
  }

  override async annotations(mailbox: number): ReturnType<StoreBackend['annotations']> {
    const grant = await this.#grant(mailbox);
    if (grant === undefined || !grant.rights.includes('r')) return super.annotations(mailbox);
    const found = await this.#store.read(annotationsOf, { mailbox, reader: this.#login.account, owner: grant.owner });
    await this.#owner(grant.owner).noteShown('folders');
    return found;
  }

  override async namedAnnotations(names: readonly string[]): ReturnType<StoreBackend['namedAnnotations']> {
    const found = await super.namedAnnotations(names);
    const shared = names.filter((name) => name.startsWith('/shared/'));
    if (shared.length === 0) return found;
    const lists = await Promise.all([...this.#foreign.keys()].map((mailbox) => this.annotations(mailbox)));
    return [...found, ...lists.flat().filter(({ name }) => shared.includes(name))];
  }

  // Writing.

  /** /private/ entries are the reader's own; /shared/ ones need a right. RFC 5464 3.3. */
  override async annotate(...args: Options<'annotate'>): ReturnType<StoreBackend['annotate']> {
    const [mailbox, changes] = args;
    const grant = await this.#grant(mailbox);
    if (grant === undefined || !grant.rights.includes('r')) return super.annotate(...args);
    if (changes.some(({ name }) => name.startsWith('/shared/')) && !/[wn]/.test(grant.rights)) return 'not-allowed';
    await this.#owner(grant.owner).noteName();
    return this.#store.write(annotate, { mailbox, reader: this.#login.account, owner: grant.owner, changes });
  }

  override async store(...args: Options<'store'>): ReturnType<StoreBackend['store']> {
    const [mailbox, uids, how, flags, unchangedSince] = args;
    const grant = await this.#grant(mailbox);
    if (grant === undefined) return super.store(...args);
    const steps = flagSteps(grant.rights, how, flags);
    if (steps === undefined) return { kind: 'forbidden', why: 'Setting these flags needs the rights s, t or w' };
    const owner = this.#owner(grant.owner);
    const done = { modseqs: [] as number[], modified: [] as number[] };
    for (const step of steps) {
      const stored = await owner.store(mailbox, uids, step.how, step.flags, unchangedSince);
      if ('kind' in stored) return stored;
      done.modseqs.push(...stored.modseqs);
      done.modified.push(...stored.modified);
    }
    return { modseqs: done.modseqs, modified: [...new Set(done.modified)] };
  }

  override async expunge(...args: Options<'expunge'>): ReturnType<StoreBackend['expunge']> {
    const grant = await this.#grant(args[0]);
    if (grant === undefined) return super.expunge(...args);
    if (!grant.rights.includes('e'))
      return { uids: [], modseq: 0, kept: 'Expunging needs the right e on this mailbox' };
    return this.#owner(grant.owner).expunge(...args);
  }

  override async copy(...args: Options<'copy'>): ReturnType<StoreBackend['copy']> {
    const [mailbox, uids, to, move] = args;
    const target = await this.mailbox(to);
    if (target === undefined) return { kind: 'missing' };
    const [source, into] = [this.#accountOf(mailbox), this.#accountOf(target.id)];
    if (source === this.#login.account && into === source) return super.copy(...args);
    const all: CopyBetween = {
      login: this.#login,
      source: { account: source, mailbox },
      target: { account: into, mailbox: target.id },
      uids,
      removes: !move ? 'nothing' : uids.length > MAX_ENTRIES ? 'later' : 'now',
    };
    const copied = await this.#copySlicesBetween(all, target);
    return copied.kind === 'done' && all.removes === 'later' ? this.#removeCopied(all, copied) : copied;
  }

  /** Copies all messages, or none when a slice is refused. RFC 9051 6.4.7. */
  async #copySlicesBetween(all: CopyBetween, target: MailboxInfo): Promise<CopyBetweenResult> {
    const done = { kind: 'done' as const, uidValidity: target.uidValidity, from: [] as number[], to: [] as number[] };
    let modseq = target.highestModseq;
    for (let at = 0; at < all.uids.length; at += MAX_ENTRIES) {
      const input = { ...all, uids: all.uids.slice(at, at + MAX_ENTRIES) };
      const slice = await this.#store.write(copyBetween, input).catch(async (error: unknown) => {
        // Throws the first error, also when the rollback fails too.
        await this.#rollBack(all, done.to).catch(() => undefined);
        throw error;
      });
      if (slice.kind !== 'done') {
        await this.#rollBack(all, done.to);
        return slice;
      }
      done.from.push(...slice.from);
      done.to.push(...slice.to);
      modseq = slice.modseq;
    }
    return { ...done, modseq };
  }

  /**
   * Ends a MOVE of several slices: removes from the source what was copied. The copies of messages that stay there, or
   * that another session removed first, are rolled back: no message is in both mailboxes, and none is lost. RFC 6851 3.3.
   */
  async #removeCopied(all: CopyBetween, copied: CopiedMessages): Promise<TransferOutcome> {
    const { removed, end } = await this.#removeSlices(all, copied.from);
    const [moved, kept] = partition(copied.from.length, (at) => removed.has(copied.from[at] ?? 0));
    const rollback = this.#rollBack(
      all,
      kept.map((at) => copied.to[at] ?? 0),
    );
    // Throws the first error, also when the rollback fails too.
    await (end?.kind === 'failed' ? rollback.catch(() => undefined) : rollback);
    const pairs = { from: moved.map((at) => copied.from[at] ?? 0), to: moved.map((at) => copied.to[at] ?? 0) };
    if (end === undefined) return { ...copied, ...pairs };
    if (moved.length > 0) return { ...copied, ...pairs, kind: 'partly', end };
    if (end.kind === 'failed') throw end.error;
    return end;
  }

  /** Removes messages from the source of a MOVE until a slice is refused or fails. */
  async #removeSlices(
    all: CopyBetween,
    uids: readonly number[],
  ): Promise<{ removed: Set<number>; end?: Forbidden | { kind: 'failed'; error: unknown } }> {
    const removed = new Set<number>();
    for (let at = 0; at < uids.length; at += MAX_ENTRIES) {
      const slice = uids.slice(at, at + MAX_ENTRIES);
      try {
        const result = await this.#store.write(removeCopied, { ...all, uids: slice });
        if (result.kind === 'forbidden') return { removed, end: result };
        for (const uid of result.uids) removed.add(uid);
      } catch (error) {
        // The commit may have happened although its result was lost: a copy is the only one left then. If PostgreSQL
        // makes it after this look, both are deleted: `undelete` restores them.
        const left = new Set(await this.#store.read(remainingUids, { mailbox: all.source.mailbox, uids: slice }));
        for (const uid of slice) if (!left.has(uid)) removed.add(uid);
        return { removed, end: { kind: 'failed', error } };
      }
    }
    return { removed };
  }

  async #rollBack({ target }: CopyBetween, uids: readonly number[]): Promise<void> {
    if (uids.length > 0) await this.#owner(target.account).rollBackCopy(target.mailbox, uids);
  }

  override async finishAppends(...args: Options<'finishAppends'>): ReturnType<StoreBackend['finishAppends']> {
    const [into] = args;
    const grant = await this.#grant(into.mailbox.id);
    const isReplacing = into.replaces !== undefined && this.#foreign.has(into.replaces.mailbox);
    if (grant === undefined && !isReplacing) return super.finishAppends(...args);
    const rights = grant?.rights ?? '';
    if (grant === undefined || into.replaces !== undefined || !rights.includes('i')) {
      for (const { sink } of into.messages) sink.abort();
      const why = rights.includes('i') || isReplacing ? 'REPLACE works in the own mailboxes only' : NEEDS_INSERT;
      return { kind: 'forbidden', why };
    }
    return this.#owner(grant.owner).finishAppends({
      mailbox: into.mailbox,
      messages: into.messages.map((each) => ({ ...each, flags: allowedFlags(rights, each.flags) })),
    });
  }

  // Rights.

  /** Rights on the mailboxes of this account, and on those of others. RFC 4314. */
  readonly acl: MailboxAcl = {
    list: async (mailbox) =>
      this.#foreign.has(mailbox)
        ? undefined
        : this.#store.read(grantsOnMailbox, { account: this.#login.account, mailbox }),
    set: (mailbox, address, how, rights): Promise<GrantResult> =>
      this.#store.write(grantByLogin, { ...this.#login, mailbox, address, how, rights }),
  };

  #accountOf(mailbox: number): number {
    return this.#foreign.get(mailbox) ?? this.#login.account;
  }

  async #grant(mailbox: number): Promise<MailboxGrant | undefined> {
    if (!this.#foreign.has(mailbox)) return undefined;
    return this.#store.read(mailboxGrant, { ...this.#login, mailbox });
  }

  /** The store of the owner of a mailbox, if this login has a right on it; undefined for the own account too. */
  async #ownerWith(right: string, mailbox: number): Promise<StoreBackend | undefined> {
    const grant = await this.#grant(mailbox);
    return grant?.rights.includes(right) === true ? this.#owner(grant.owner) : undefined;
  }

  #owner(account: number): StoreBackend {
    let owner = this.#owners.get(account);
    if (owner === undefined) {
      // Secrets that agents do not see stay redacted: the login is no person of that account.
      owner = new StoreBackend(this.#store, account, this.#clock, this.#options);
      this.#owners.set(account, owner);
    }
    return owner;
  }
}

const NEEDS_INSERT = 'Adding messages needs the right i on this mailbox';
const OWNER_ONLY = 'Only the owner creates, renames and deletes mailboxes here';

/** Positions below `length` for which a condition holds, and the others. */
function partition(length: number, holds: (at: number) => boolean): [number[], number[]] {
  const all = Array.from({ length }, (_, at) => at);
  return [all.filter(holds), all.filter((at) => !holds(at))];
}
