import type { ImapMailboxInfo } from '../imap-store.ts';
import { isSelectable } from '../list-response.ts';
import { metadataKeys } from '../metadata.ts';
import type { SelectedView } from '../selected-view.ts';
import {
  type EventContext,
  mailboxChange,
  mailboxRemoval,
  type WatchedMailbox,
  watchedMailbox,
} from './mailbox-events.ts';
import { applyOwnChange, type OwnChange } from './own-change.ts';
import { inReportOrder } from './report-order.ts';

/** Mailboxes of one session: each takes some 200 octets of memory. */
const MAX_MAILBOXES = 5_000;
/** Names of METADATA entries that wait for a report. */
const MAX_ENTRIES = 1_000;

/** The mailboxes as a client knows them, and changes that wait for a report. */
export class MailboxWatch {
  #known = new Map<number, WatchedMailbox>();
  /** Names of mailboxes that the client itself created since the last report. */
  readonly #created = new Set<string>();
  readonly #metadata = new Map<number, Set<string>>();
  #entries = 0;
  #hasTooMany = false;

  get hasMetadata(): boolean {
    return this.#metadata.size > 0;
  }

  /** There is more to remember than a session may use memory for. */
  get isOverflowing(): boolean {
    return this.#hasTooMany || this.#entries > MAX_ENTRIES;
  }

  has(mailbox: number): boolean {
    return this.#known.has(mailbox);
  }

  clear(): void {
    this.#known.clear();
    this.#metadata.clear();
    this.#created.clear();
    this.#entries = 0;
  }

  /** Takes the mailboxes as known. False: there are too many. */
  reset(all: readonly ImapMailboxInfo[]): boolean {
    const real = all.filter(isSelectable);
    this.#hasTooMany = real.length > MAX_MAILBOXES;
    this.#known = new Map(this.#hasTooMany ? [] : real.map((each) => [each.id, watchedMailbox(each)]));
    return !this.#hasTooMany;
  }

  addOwn(change: OwnChange): void {
    for (const name of applyOwnChange(this.#known, change)) this.#created.add(name);
    // Another mailbox of this name is somebody else's.
    if (change.kind === 'removed') this.#created.delete(change.name);
    if (change.kind === 'renamed') this.#created.delete(change.from);
  }

  /** Tests if the client itself created a mailbox of this name. */
  isOwn(name: string): boolean {
    return this.#created.has(name);
  }

  /** Takes the messages of a mailbox as known that the client has just left: later changes are to be reported. */
  onUnselect({ shared, length, uidNext, syncedModseq }: SelectedView): void {
    const known = this.#known.get(shared.mailbox);
    if (known !== undefined) Object.assign(known, { total: length, uidNext, highestModseq: syncedModseq });
  }

  addMetadata(mailbox: number, names: readonly string[]): void {
    const entries = this.#metadata.get(mailbox) ?? new Set();
    for (const name of names) entries.add(name);
    this.#entries += names.length;
    if (this.#entries <= MAX_ENTRIES) this.#metadata.set(mailbox, entries);
  }

  /** Yields the response for each mailbox, '' where there is none, and takes the changes as reported. */
  *changes(all: readonly ImapMailboxInfo[], context: EventContext): Generator<string> {
    const before = this.#known;
    const now = all.filter(isSelectable);
    if (!this.reset(all)) return;
    for (const each of inReportOrder(before, now)) {
      if (each.now !== undefined) yield mailboxChange(each.before, each.now, context);
      else if (each.before !== undefined) yield mailboxRemoval(each.before, context);
    }
    this.#created.clear();
    yield* this.#takeMetadata(now, context);
  }

  *#takeMetadata(all: readonly ImapMailboxInfo[], { events, utf8 }: EventContext): Generator<string> {
    const changed = [...this.#metadata];
    this.#metadata.clear();
    this.#entries = 0;
    for (const [id, names] of changed) {
      const mailbox = all.find((each) => each.id === id);
      const isWanted =
        mailbox === undefined
          ? id === 0 && all.some((each) => events(each).has('ServerMetadataChange'))
          : events(mailbox).has('MailboxMetadataChange');
      if (isWanted) yield metadataKeys(mailbox?.name ?? '', [...names], utf8);
    }
  }
}
