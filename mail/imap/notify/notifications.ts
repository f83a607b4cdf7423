import { yieldToEventLoop } from '../../limits/event-loop.ts';
import { enableCondstore } from '../condstore.ts';
import { fetchPages, writePage } from '../fetch/write.ts';
import { hasItem, withoutUid } from '../fetch/parse.ts';
import type { ImapMailboxInfo } from '../imap-store.ts';
import { Disconnected } from '../output.ts';
import type { AllowedUpdates, SelectedView } from '../selected-view.ts';
import type { Session } from '../session.ts';
import { statusResponse } from '../status-items.ts';
import { type NotifyRequest, NOTIFY_NONE } from './event-groups.ts';
import { type EventContext, requestedEvents, isReadable, statusItems } from './mailbox-events.ts';
import { MailboxWatch } from './mailbox-watch.ts';
import type { OwnChange } from './own-change.ts';
import type { SessionNotifications } from './session-notifications.ts';

/** Least time between two reads of the mailboxes, ms: many changes in a short time are reported together. */
const READ_INTERVAL_MS = 200;
/** The same for each mailbox: a session with thousands of them would read without a pause. */
const READ_INTERVAL_OF_MAILBOX_MS = 1;

/**
 * The notifications of one session after NOTIFY. Reports are written one after the other, never within the response to a
 * command. A report compares the mailboxes with what the client knows, so its memory does not grow with the changes.
 */
export class Notifications implements SessionNotifications {
  #request: NotifyRequest;
  readonly #session: Session;
  readonly #watch = new MailboxWatch();
  #events: EventContext['events'];
  /** Reports are in this order. */
  #last: Promise<void> = Promise.resolve();
  #isStale = false;
  #isScheduled = false;
  #readAt = -Infinity;
  #mailboxes = 0;
  #stop: (() => void) | undefined;

  constructor(session: Session, request: NotifyRequest) {
    this.#session = session;
    this.#request = request;
    this.#events = requestedEvents(request.groups);
  }

  /** Reads the mailboxes, and writes their STATUS if that was requested. False: there are too many. RFC 5465 3.1. */
  async start(): Promise<boolean> {
    const { groups, status } = this.#request;
    if (groups.length === 0) return true;
    const session = this.#session;
    this.#stop = session.store.onChange(() => this.#onStoreChange());
    const all = await this.#readMailboxes();
    if (!this.#watch.reset(all)) return false;
    const context = this.#context();
    for (const mailbox of status ? all : []) {
      await yieldToEventLoop(session.login?.account);
      const events = context.events(mailbox);
      if (mailbox.id === context.selected || !isReadable(mailbox) || !events.has('MessageNew')) continue;
      session.write(context.status(mailbox, statusItems(events, context.condstore)));
      await session.drained();
    }
    return true;
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#watch.clear();
  }

  get betweenCommands(): AllowedUpdates {
    const { selected } = this.#request;
    if (selected === undefined || selected.events.size === 0) return 'nothing';
    return selected.delaysExpunge ? 'no-expunge' : 'all';
  }

  addOwn(change: OwnChange): void {
    // Without a request about mailboxes no report would ever clear it.
    if (this.#stop !== undefined) this.#watch.addOwn(change);
  }

  onUnselect(view: SelectedView): void {
    this.#watch.onUnselect(view);
    // The next report compares what the client counted there with what is there.
    this.#isStale ||= this.#stop !== undefined;
  }

  addMetadata(mailbox: number, names: readonly string[]): void {
    if (this.#stop === undefined) return;
    this.#watch.addMetadata(mailbox, names);
    this.#session.context.idleNotifier.add(this.#session);
  }

  lists(mailbox: number): boolean {
    return this.#watch.has(mailbox);
  }

  settled(): Promise<void> {
    return this.#last;
  }

  report(allowed: AllowedUpdates): Promise<void> {
    this.#last = this.#last.then(() => this.#report(allowed)).catch((error: unknown) => this.#overflow(error));
    return this.#last;
  }

  async #report(allowed: AllowedUpdates): Promise<void> {
    const session = this.#session;
    if (!session.connected) return;
    if (session.selected !== undefined) await this.#reportSelected(session.selected, allowed);
    if (this.#watch.isOverflowing) return this.#overflow();
    if (!this.#isStale && !this.#watch.hasMetadata) return;
    this.#isStale = false;
    const all = await this.#readMailboxes();
    for (const response of this.#watch.changes(all, this.#context())) {
      if (response !== '') session.write(response);
      await session.drained();
      await yieldToEventLoop(session.login?.account);
    }
    if (this.#watch.isOverflowing) this.#overflow();
  }

  async #readMailboxes(): Promise<readonly ImapMailboxInfo[]> {
    const { store, context } = this.#session;
    this.#readAt = context.clock.now();
    const all = await store.mailboxes();
    this.#mailboxes = all.length;
    return all;
  }

  async #reportSelected(view: SelectedView, allowed: AllowedUpdates): Promise<void> {
    const session = this.#session;
    const { selected } = this.#request;
    view.reportsFlags = selected?.events.has('FlagChange') === true;
    if (allowed === 'nothing') return;
    const firstNew = view.uidNext;
    if (session.followsSearches) await session.contexts.report(session, allowed);
    else if (view.isStale) {
      await view.noteLabels(session.store);
      if (session.selected !== view) return;
      session.write(view.takeUpdates(allowed));
    }
    if (selected?.fetch === undefined || session.selected !== view) return;
    if (hasItem(selected.fetch, 'modseq')) enableCondstore(session);
    const request = session.enabled.has('UIDONLY') ? withoutUid(selected.fetch) : selected.fetch;
    let start = view.length;
    while (start > 0 && (view.uids[start - 1] ?? 0) >= firstNew) start -= 1;
    for (const page of fetchPages([{ start, end: view.length }], request)) {
      await writePage(session, page, request, { damaged: new Set(), isUnknownEncoding: false });
      if (session.selected !== view) return;
    }
  }

  #context(): EventContext {
    const session = this.#session;
    return {
      events: this.#events,
      selected: session.selected?.shared.mailbox,
      utf8: session.utf8,
      condstore: session.enabled.has('CONDSTORE'),
      isOwn: (name) => this.#watch.isOwn(name),
      status: (of, items) => statusResponse(of, items, session),
    };
  }

  #onStoreChange(): void {
    this.#isStale = true;
    if (this.#isScheduled) return;
    const { clock, idleNotifier } = this.#session.context;
    const interval = Math.max(READ_INTERVAL_MS, this.#mailboxes * READ_INTERVAL_OF_MAILBOX_MS);
    const wait = this.#readAt + interval - clock.now();
    if (wait <= 0) {
      idleNotifier.add(this.#session);
      return;
    }
    this.#isScheduled = true;
    void clock.sleep(wait).then(() => {
      this.#isScheduled = false;
      if (this.#stop !== undefined) idleNotifier.add(this.#session);
    });
  }

  /** Ends the notifications: the server behaves as after NOTIFY NONE. RFC 5465 5.8. */
  #overflow(error?: unknown): void {
    const session = this.#session;
    if (error instanceof Disconnected || !session.open) return;
    const { context, login } = session;
    if (error !== undefined) context.log.error({ err: error, account: login?.account }, 'failed to notify IMAP client');
    this.stop();
    this.#request = NOTIFY_NONE;
    this.#events = requestedEvents([]);
    session.writeUnsolicited('* OK [NOTIFICATIONOVERFLOW] Notifications ended: request them again with NOTIFY SET\r\n');
  }
}
