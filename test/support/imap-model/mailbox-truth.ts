import type { ImapTruth } from './truth.ts';

/** The response code of a refusal; undefined: it is done. */
type Refusal = string | undefined;

/** Levels of a name. */
const MAX_LEVELS = 20;
const levels = (name: string): number => name.split('/').length;

/** The mailboxes of an account after CREATE, DELETE, RENAME and SUBSCRIBE. RFC 9051 6.3.4 to 6.3.8. */
export class MailboxTruth {
  readonly #truth: ImapTruth;
  /** Subscribed names of deleted mailboxes, which stay subscribed. RFC 3501 6.3.9. */
  readonly former = new Set<string>();

  constructor(truth: ImapTruth) {
    this.#truth = truth;
  }

  create(name: string): Refusal {
    if (this.#truth.find(name) !== undefined) return 'ALREADYEXISTS';
    this.#addWithParents(name);
    return undefined;
  }

  remove(name: string): Refusal {
    if (name === 'INBOX') return 'CANNOT';
    const box = this.#truth.find(name);
    if (box === undefined) return 'NONEXISTENT';
    if (this.hasChildren(name)) return 'HASCHILDREN';
    box.gone = true;
    this.#truth.mailboxes.splice(this.#truth.mailboxes.indexOf(box), 1);
    if (box.subscribed) this.former.add(name);
    return undefined;
  }

  rename(from: string, to: string): Refusal {
    const box = this.#truth.find(from);
    if (box === undefined) return 'NONEXISTENT';
    if (from === 'INBOX') return this.#renameInbox(to);
    if (to.startsWith(`${from}/`)) return 'CANNOT';
    if (this.#truth.find(to) !== undefined) return 'ALREADYEXISTS';
    const moved = this.#truth.mailboxes.filter(({ name }) => name === from || name.startsWith(`${from}/`));
    const depth = Math.max(...moved.map(({ name }) => levels(to + name.slice(from.length))));
    if (depth > MAX_LEVELS) return 'LIMIT';
    this.#addParents(to);
    for (const each of moved) {
      each.name = to + each.name.slice(from.length);
      // A name that is subscribed stays so when a mailbox gets it.
      if (this.former.delete(each.name)) each.subscribed = true;
    }
    return undefined;
  }

  subscribe(name: string, on: boolean): Refusal {
    const box = this.#truth.find(name);
    if (box !== undefined) box.subscribed = on;
    else if (on) return 'NONEXISTENT';
    else this.former.delete(name);
    return undefined;
  }

  hasChildren(name: string): boolean {
    return this.#truth.mailboxes.some((each) => each.name.startsWith(`${name}/`));
  }

  /** Subscribed names, with and without a mailbox, in order. */
  subscriptions(): string[] {
    const there = this.#truth.mailboxes.filter(({ subscribed }) => subscribed).map(({ name }) => name);
    return [...there, ...this.former].toSorted();
  }

  /** RFC 9051 6.3.6: its messages move to a new mailbox, and INBOX stays. */
  #renameInbox(to: string): Refusal {
    const refusal = this.create(to);
    const target = this.#truth.find(to);
    if (refusal !== undefined || target === undefined) return refusal;
    const inbox = this.#truth.inbox();
    this.#truth.copy(inbox, this.#truth.uids(inbox), target, true);
    return undefined;
  }

  #addWithParents(name: string): void {
    this.#addParents(name);
    this.#truth.add(name, this.former.delete(name));
  }

  #addParents(name: string): void {
    const parent = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    if (parent !== '' && this.#truth.find(parent) === undefined) this.#addWithParents(parent);
  }
}
