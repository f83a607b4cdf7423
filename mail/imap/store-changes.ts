import { refusedMove } from '../agents/hooks.ts';
import type { PasswordActor } from '../store/actor-types.ts';
import type { Command } from '../store/engine/types.ts';
import {
  copyEntries,
  type CopyResult,
  expunge,
  MAX_ENTRIES,
  MAX_FLAGGED,
  storeFlags,
} from '../store/mailbox/entry-commands.ts';
import type { StoreFlagsResult } from '../store/mailbox/flag-change.ts';
import { MAX_LOGGED } from '../store/mailbox/flag-log.ts';
import type { MailboxInfo } from '../store/mailbox/mailbox.ts';
import { isUncounted, LEAST_PER_RANGE, MAX_RANGE } from '../store/mailbox/range-flags.ts';
import type { MailStore } from '../store/store.ts';
import type { FlagSet, ImapStore, TransferOutcome, TransferredMessages, TransferRefusal } from './imap-store.ts';
import { contiguousRanges } from './uid-ranges.ts';

/** Flags of more messages than `above`, and of at least `inRange` in a range, are logged. */
export interface LoggedSizes {
  above: number;
  inRange: number;
}

export interface StoreChangesOptions {
  store: MailStore;
  account: number;
  clock: () => number;
  /** The owner of the password; without one, nothing can be approved. */
  actor: PasswordActor | undefined;
  logged?: LoggedSizes | undefined;
  /** A person makes the change, whose changes are not recorded for undo. */
  isPerson: () => Promise<boolean>;
}

/** Changes of the messages of one account, in slices that other commands go between. */
export class StoreChanges {
  readonly #options: StoreChangesOptions;
  readonly #logged: LoggedSizes;

  constructor(options: StoreChangesOptions) {
    this.#options = options;
    this.#logged = options.logged ?? { above: MAX_FLAGGED, inRange: LEAST_PER_RANGE };
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
    const isFast = uids.length > this.#logged.above && isUncounted(change) && (await this.#options.isPerson());
    const logged = isFast ? await this.#logFlags(mailbox, uids, change) : undefined;
    if (logged?.kind === 'done') return { modseqs: logged.modseq === null ? [] : [logged.modseq], modified };
    for (const slice of slices(uids, isFast ? MAX_RANGE : MAX_FLAGGED)) {
      const input = { account: this.#options.account, mailbox, uids: slice, actor: this.#options.actor, ...change };
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
    return this.#options.store.logFlags({ account: this.#options.account, mailbox, ranges, how, flags });
  }

  /** Copies or moves messages into a mailbox of the same account. */
  async copy(mailbox: number, uids: readonly number[], target: MailboxInfo, move: boolean): Promise<TransferOutcome> {
    const refused = move && uids.length > MAX_ENTRIES ? await this.refusedMove(mailbox, uids, target.id) : undefined;
    if (refused !== undefined) return refused;
    const { end, ...copied } = await this.#copySlices(mailbox, uids, target, move);
    if (end === undefined) return { kind: 'done', ...copied };
    if (move && copied.from.length > 0) return { kind: 'partly', end, ...copied };
    const rollback = move ? Promise.resolve() : this.rollBackCopy(target.id, copied.to);
    // Throws the first error, also when the rollback fails too.
    await (end.kind === 'failed' ? rollback.catch(() => undefined) : rollback);
    if (end.kind === 'failed') throw end.error;
    return end;
  }

  /** Looks at all messages of a MOVE before the first slice moves: one that may not move keeps all where they are. */
  refusedMove(mailbox: number, uids: readonly number[], to: number): Promise<TransferRefusal | undefined> {
    const about = {
      account: this.#options.account,
      mailbox,
      uids,
      to,
      actor: this.#options.actor,
      now: this.#options.clock(),
    };
    return this.#options.store.scan(refusedMove, about);
  }

  /** Copies or moves slices until one is refused or fails; those that had begun by then are copied or moved too. */
  async #copySlices(
    mailbox: number,
    uids: readonly number[],
    target: MailboxInfo,
    move: boolean,
  ): Promise<TransferredMessages & { end?: TransferRefusal | Failed }> {
    const { uidValidity, highestModseq: modseq } = target;
    const copied: TransferredMessages = { uidValidity, from: [], to: [], modseq };
    let end: TransferRefusal | Failed | undefined;
    const copySlice = (slice: readonly number[]): Promise<CopyResult | Failed> => {
      const { account, actor } = this.#options;
      const input = { account, mailbox, uids: slice, to: target.id, move, actor };
      return this.#write(slice, uids, copyEntries, input).catch(failed);
    };
    for await (const done of inOrder(slices(uids), copySlice, () => end === undefined)) {
      if (done.kind !== 'done') end ??= done;
      else {
        copied.from.push(...done.from);
        copied.to.push(...done.to);
        copied.modseq = done.modseq;
      }
    }
    return end === undefined ? copied : { ...copied, end };
  }

  async expunge(mailbox: number, uids: readonly number[]): ReturnType<ImapStore['expunge']> {
    const expunged: number[] = [];
    let modseq = 0;
    let kept: string | undefined;
    for (const slice of slices(uids)) {
      const input = { account: this.#options.account, mailbox, uids: slice, actor: this.#options.actor };
      const done = await this.#write(slice, uids, expunge, input);
      expunged.push(...done.uids);
      modseq = done.modseq ?? modseq;
      kept ??= done.kept;
    }
    return { uids: expunged, modseq, ...(kept !== undefined && { kept }) };
  }

  /** Writes a short command in the common batch; slices of long ones go to the low-priority queue. */
  #write<I, O>(slice: readonly number[], all: readonly number[], what: Command<I, O>, input: I): Promise<O> {
    return slice.length === all.length
      ? this.#options.store.write(what, input)
      : this.#options.store.writeSlice(what, input);
  }

  /** Removes what a refused COPY has made so far: it copies all messages or none. RFC 9051 6.4.7. */
  async rollBackCopy(mailbox: number, uids: readonly number[]): Promise<void> {
    await this.store(mailbox, uids, 'add', { bits: 16, keywords: [] });
    await this.expunge(mailbox, uids);
  }
}

/** An error of a slice. */
interface Failed {
  kind: 'failed';
  error: unknown;
}

const failed = (error: unknown): Failed => ({ kind: 'failed', error });

/** Slices under way at once: those that wait for the writer share a commit while nothing else waits. */
const UNDER_WAY = 4;

/**
 * Yields the results of slices in their order. The first one runs alone, so that a change that is refused at once changes
 * nothing. `goesOn`: whether more may begin. `run` must not reject.
 */
async function* inOrder<T>(
  all: Iterable<readonly number[]>,
  run: (slice: readonly number[]) => Promise<T>,
  goesOn: () => boolean,
): AsyncGenerator<T> {
  const underWay: Promise<T>[] = [];
  let most = 1;
  for (const slice of all) {
    if (underWay.length === most) {
      yield (await underWay.shift()) as T;
      most = UNDER_WAY;
    }
    if (!goesOn()) break;
    underWay.push(run(slice));
  }
  for (const result of underWay) yield await result;
}

function* slices(uids: readonly number[], most = MAX_ENTRIES): Iterable<readonly number[]> {
  for (let at = 0; at < uids.length; at += most) yield uids.slice(at, at + most);
}
