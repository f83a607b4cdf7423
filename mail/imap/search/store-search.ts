import { BlobUnreadable } from '../../store/blob/unreadable.ts';
import type { MailStore } from '../../store/store.ts';
import type { ImapStore, MailboxSearchOptions } from '../imap-store.ts';
import { matchByFlags, type SearchedView } from './candidates.ts';
import type { FindInput } from './find.ts';
import type { FindOutcome } from './find-order.ts';
import type { SearchProgram, TextKey } from './program.ts';
import { imapSearch } from './reader-search.ts';
import { relevantMessages } from './relevant.ts';

export interface StoreSearchOptions {
  store: MailStore;
  account: number;
  clock: () => number;
  /** A person searches, who sees everything. */
  isPerson: () => Promise<boolean>;
}

/** Searches of one account: by flags on this thread, all else in the reader thread. */
export class StoreSearch {
  readonly #options: StoreSearchOptions;

  constructor(options: StoreSearchOptions) {
    this.#options = options;
  }

  async search(
    mailbox: number,
    view: SearchedView,
    program: SearchProgram,
    { sort, scores = new Map(), signal }: MailboxSearchOptions = {},
  ): ReturnType<ImapStore['search']> {
    const { found, open } = matchByFlags(program, view.uids, view.length, view);
    if (open.uids.length === 0 && (sort === undefined || found.length === 0)) return found;
    const order = sort === undefined ? undefined : ({ kind: 'sort', keys: sort, scores } as const);
    const outcome = await this.#find(mailbox, { program, found, open, total: view.length, order }, signal);
    return outcome.kind === 'found' ? outcome.uids : { kind: 'too-long' };
  }

  async thread(
    mailbox: number,
    view: SearchedView,
    program: SearchProgram,
    { algorithm, uid, signal }: Parameters<ImapStore['thread']>[3],
  ): ReturnType<ImapStore['thread']> {
    const { found, open } = matchByFlags(program, view.uids, view.length, view);
    if (open.uids.length === 0 && found.length === 0) return '';
    const known = uid ? undefined : view.uids.slice(0, view.length);
    const order = { kind: 'thread', algorithm, known } as const;
    const outcome = await this.#find(mailbox, { program, found, open, total: view.length, order }, signal);
    return outcome.kind === 'threads' ? outcome.text : { kind: 'too-long' };
  }

  relevant(mailbox: number, key: TextKey): Promise<ReadonlyMap<number, number> | undefined> {
    const { store, account } = this.#options;
    return relevantMessages(store.text, { account, mailbox, key });
  }

  /** Runs a search in the reader thread. */
  async #find(mailbox: number, find: Omit<FindInput, 'now'>, signal: AbortSignal | undefined): Promise<FindOutcome> {
    const { store, account, clock, isPerson } = this.#options;
    const cancelled = new Int32Array(new SharedArrayBuffer(4));
    signal?.addEventListener('abort', () => void Atomics.store(cancelled, 0, 1), { once: true });
    const { outcome, unreadable } = await store.scan(imapSearch, {
      account,
      mailbox,
      blobs: store.files.directory,
      isPerson: await isPerson(),
      find: { ...find, now: clock() },
      cancelled,
    });
    for (const { blob, why } of unreadable) store.reportUnreadable(blob, new BlobUnreadable(blob, why));
    return outcome;
  }
}
