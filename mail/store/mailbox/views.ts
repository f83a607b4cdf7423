import type { DatabaseConnection } from '../engine/connection.ts';
import type { Reader } from '../engine/reader.ts';
import type { WakeUp } from '../engine/types.ts';
import { type Keywords, SharedView } from './view.ts';

/** Shared views of open mailboxes. A change is read once for all sessions. */
export class Views {
  readonly #reader: Reader;
  readonly #open = new Map<number, SharedView>();
  readonly #keywords = new Map<number, Keywords>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Opens a mailbox of the account. Close the view once per call. */
  open(account: number, mailbox: number): SharedView {
    let view = this.#open.get(mailbox);
    if (view === undefined || view.gone || view.account !== account) {
      const fresh = new SharedView(account, mailbox, this.#keywordsOf(account), (closed) => this.#remove(closed));
      this.#reader.snapshot((connection) => {
        this.#readKeywords(connection, account);
        fresh.load(connection);
      });
      view = fresh;
      if (!fresh.gone) this.#open.set(mailbox, fresh);
    }
    view.users++;
    return view;
  }

  /** Updates the views after a commit, before its promises resolve: EXISTS must precede APPEND's OK. */
  catchUp(wakeUps: readonly WakeUp[]): void {
    const stale = new Set<SharedView>();
    for (const { mailboxes } of wakeUps) {
      for (const mailbox of mailboxes) {
        const view = this.#open.get(mailbox);
        if (view !== undefined) stale.add(view);
      }
    }
    if (stale.size === 0) return;
    this.#reader.snapshot((connection) => {
      for (const account of new Set([...stale].map((view) => view.account))) this.#readKeywords(connection, account);
      for (const view of stale) view.refresh(connection);
    });
  }

  #keywordsOf(account: number): Keywords {
    let keywords = this.#keywords.get(account);
    if (keywords === undefined) {
      keywords = { bySlot: new Map(), names: [] };
      this.#keywords.set(account, keywords);
    }
    return keywords;
  }

  #readKeywords(connection: DatabaseConnection, account: number): void {
    const keywords = this.#keywordsOf(account);
    const rows = connection.all<{ slot: number; name: string }>(
      'SELECT slot, name FROM keyword WHERE account_id = ? ORDER BY slot',
      [account],
    );
    if (rows.length === keywords.bySlot.size) return;
    for (const { slot, name } of rows) keywords.bySlot.set(slot, name);
    keywords.names = [...keywords.bySlot.values()];
  }

  #remove(view: SharedView): void {
    if (this.#open.get(view.mailbox) === view) this.#open.delete(view.mailbox);
    if (![...this.#open.values()].some((other) => other.account === view.account)) this.#keywords.delete(view.account);
  }
}
