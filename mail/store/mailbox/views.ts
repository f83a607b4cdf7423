import type { Reads } from '../engine/reads.ts';
import type { RangeFlags, WakeUp } from '../engine/types.ts';
import { UnusedViews } from './unused-views.ts';
import { type Keywords, SharedView } from './view.ts';

/** Shared views of open mailboxes. A change is read once for all sessions. */
export class Views {
  readonly #open = new Map<number, SharedView>();
  readonly #unused = new UnusedViews();
  readonly #keywords = new Map<number, Keywords>();
  /** Mailboxes whose {@link SharedView.recentFrom} is not stored yet. */
  readonly #recent = new Map<number, number>();
  /** The stored value of each open view. */
  readonly #storedRecent = new WeakMap<SharedView, number>();
  readonly #storeRecent: (mailbox: number, uid: number) => Promise<unknown>;
  readonly #isLogged: (account: number) => boolean;

  /**
   * `storeRecent` stores the first UID of which no session was notified; called when the last session leaves a mailbox.
   * `isLogged`: the log of flags may have changes of an account.
   */
  constructor(storeRecent: (mailbox: number, uid: number) => Promise<unknown>, isLogged: (account: number) => boolean) {
    this.#storeRecent = storeRecent;
    this.#isLogged = isLogged;
  }

  /** First UID that no session was notified of, as far as it is not stored; 0: see the row. */
  recentFrom(mailbox: number): number {
    return Math.max(this.#open.get(mailbox)?.recentFrom ?? 0, this.#recent.get(mailbox) ?? 0);
  }

  /** Mailboxes that have an open view, by account. */
  openMailboxes(): ReadonlyMap<number, number[]> {
    const open = new Map<number, number[]>();
    for (const { account, mailbox } of this.#open.values()) open.set(account, [...(open.get(account) ?? []), mailbox]);
    return open;
  }

  /** Opens a mailbox of the account. Close the view once per call. */
  *open(account: number, mailbox: number): Reads<SharedView> {
    let view = this.#open.get(mailbox);
    if (view === undefined || view.gone || view.account !== account) {
      view = (yield* this.#reopen(account, mailbox)) ?? (yield* this.#load(account, mailbox));
      if (!view.gone) this.#add(view);
    }
    view.users++;
    return view;
  }

  #add(view: SharedView): void {
    this.#open.set(view.mailbox, view);
    // The last other view of the account may have been closed meanwhile.
    this.#keywords.set(view.account, view.keywordsOf);
  }

  /** Opens a view that was kept, after reading what changed since; undefined: there is none, or it is no longer valid. */
  *#reopen(account: number, mailbox: number): Reads<SharedView | undefined> {
    const view = this.#unused.take(mailbox);
    const keywords = this.#keywordsOf(account);
    if (view?.account !== account || view.keywordsOf !== keywords) return undefined;
    yield* readKeywords(keywords, account);
    yield* view.refresh(this.#isLogged(account));
    return view.gone ? undefined : view;
  }

  *#load(account: number, mailbox: number): Reads<SharedView> {
    const keywords = this.#keywordsOf(account);
    const fresh = new SharedView(account, mailbox, keywords, (closed) => this.#remove(closed));
    yield* readKeywords(keywords, account);
    yield* fresh.load(this.#isLogged(account));
    const stored = fresh.recentFrom;
    fresh.recentFrom = Math.max(stored, this.#recent.get(mailbox) ?? 0);
    this.#storedRecent.set(fresh, stored);
    return fresh;
  }

  /** Updates the views after a commit, before its promises resolve: EXISTS must precede APPEND's OK. */
  *catchUp(wakeUps: readonly WakeUp[]): Reads<void> {
    const stale = new Map<SharedView, RangeFlags | undefined>();
    for (const { mailboxes, flags } of wakeUps) {
      for (const mailbox of mailboxes) {
        const view = this.#open.get(mailbox);
        if (view !== undefined) stale.set(view, stale.has(view) ? undefined : flags?.get(mailbox));
      }
    }
    for (const account of new Set([...stale.keys()].map((view) => view.account)))
      yield* readKeywords(this.#keywordsOf(account), account);
    for (const [view, flags] of stale) {
      if (flags === undefined || !view.apply(flags)) yield* view.refresh(this.#isLogged(view.account));
    }
  }

  #keywordsOf(account: number): Keywords {
    let keywords = this.#keywords.get(account);
    if (keywords === undefined) {
      keywords = { bySlot: new Map(), names: [] };
      this.#keywords.set(account, keywords);
    }
    return keywords;
  }

  /** Stores at the end of the sessions and not for each message: after a crash a message may be \Recent twice. */
  #keepRecent(view: SharedView): void {
    const { mailbox, recentFrom } = view;
    this.#recent.set(mailbox, recentFrom);
    this.#storedRecent.set(view, recentFrom);
    const stored = (): void => {
      if (this.#recent.get(mailbox) === recentFrom) this.#recent.delete(mailbox);
    };
    this.#storeRecent(mailbox, recentFrom).then(stored, stored);
  }

  #remove(view: SharedView): void {
    if (!view.gone && view.recentFrom > (this.#storedRecent.get(view) ?? 0)) this.#keepRecent(view);
    if (this.#open.get(view.mailbox) === view) {
      this.#open.delete(view.mailbox);
      this.#unused.keep(view);
    }
    const isUsed = [...this.#open.values()].some((other) => other.account === view.account);
    if (!isUsed && !this.#unused.hasAccount(view.account)) this.#keywords.delete(view.account);
  }
}

function* readKeywords(keywords: Keywords, account: number): Reads<void> {
  const rows = (yield {
    sql: 'SELECT slot, name FROM keyword WHERE account_id = ? ORDER BY slot',
    params: [account],
  }) as { slot: number; name: string }[];
  if (rows.length === keywords.bySlot.size) return;
  for (const { slot, name } of rows) keywords.bySlot.set(slot, name);
  keywords.names = [...keywords.bySlot.values()];
}
