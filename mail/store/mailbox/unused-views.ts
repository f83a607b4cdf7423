import type { SharedView } from './view.ts';

/** Messages of all views that are kept, at 16 octets each. */
const MAX_MESSAGES = 500_000;
const MAX_VIEWS = 200;

/**
 * Views that no session has open. Clients open the same few mailboxes over and over, and reading 100,000 entries takes
 * longer than everything else in SELECT; a kept view reads only what changed since.
 */
export class UnusedViews {
  /** The longest unused first. */
  readonly #views = new Map<number, SharedView>();
  #messages = 0;

  keep(view: SharedView): void {
    if (view.gone || view.length > MAX_MESSAGES) return;
    this.take(view.mailbox);
    this.#views.set(view.mailbox, view);
    this.#messages += view.length;
    for (const mailbox of this.#views.keys()) {
      if (this.#messages <= MAX_MESSAGES && this.#views.size <= MAX_VIEWS) return;
      this.take(mailbox);
    }
  }

  /** Takes out the view of a mailbox. It has the state of the time when it was kept. */
  take(mailbox: number): SharedView | undefined {
    const view = this.#views.get(mailbox);
    if (view === undefined) return undefined;
    this.#views.delete(mailbox);
    this.#messages -= view.length;
    return view;
  }

  hasAccount(account: number): boolean {
    return [...this.#views.values()].some((view) => view.account === account);
  }
}
