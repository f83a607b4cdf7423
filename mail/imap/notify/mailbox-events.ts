import type { ImapMailboxInfo } from '../imap-store.ts';
import { isSelectable, listAttributes, listResponse } from '../list-response.ts';
import { hasRight } from '../rights.ts';
import { sourceMatcher, type SourceMailbox } from '../search/sources.ts';
import type { StatusItem } from '../status-items.ts';
import { mailbox as mailboxName, string } from '../wire/encoder.ts';
import type { EventGroup, NotifyEvent } from './event-groups.ts';

/** The facts of a mailbox that were reported last. */
export type WatchedMailbox = SourceMailbox & Pick<ImapMailboxInfo, 'uidNext' | 'total' | 'unseen' | 'highestModseq'>;

/** The facts that a session keeps of each mailbox: few, as it keeps them for every mailbox. */
export function watchedMailbox(of: ImapMailboxInfo): WatchedMailbox {
  const { id, name, role, subscribed, rights, uidNext, total, unseen, highestModseq } = of;
  return { id, name, role, subscribed, uidNext, total, unseen, highestModseq, ...(rights !== undefined && { rights }) };
}

/** Returns the events that the groups request of a mailbox: those of all groups up to one with NONE. RFC 5465 6. */
export function requestedEvents(groups: readonly EventGroup[]): (mailbox: SourceMailbox) => ReadonlySet<NotifyEvent> {
  const matcher = sourceMatcher(
    groups.map(({ source }) => source),
    undefined,
  );
  return (mailbox) => {
    const isIn = matcher(mailbox);
    const found = new Set<NotifyEvent>();
    for (const [at, { events }] of groups.entries()) {
      if (!isIn(at)) continue;
      if (events.size === 0) return found;
      for (const event of events) found.add(event);
    }
    return found;
  };
}

/** Settings of the session that decide how events are written. */
export interface EventContext {
  readonly events: (mailbox: SourceMailbox) => ReadonlySet<NotifyEvent>;
  /** The selected mailbox, whose messages are reported otherwise. */
  readonly selected: number | undefined;
  readonly utf8: boolean;
  readonly condstore: boolean;
  /** Tests if the client itself just created a mailbox of this name. */
  readonly isOwn: (name: string) => boolean;
  readonly status: (of: ImapMailboxInfo, items: readonly StatusItem[]) => string;
}

/** Responses about a mailbox that is new, or differs from what was reported. Returns '' for no requested change. */
export function mailboxChange(before: WatchedMailbox | undefined, now: ImapMailboxInfo, context: EventContext): string {
  if (before !== undefined && isSame(before, now)) return '';
  const events = context.events(now);
  return nameChange(before, now, events, context) + messageChange(before, now, events, context);
}

/** Tests if nothing of a mailbox is to be reported: finding its events costs more than this. */
function isSame(before: WatchedMailbox, now: ImapMailboxInfo): boolean {
  return (
    before.name === now.name &&
    before.subscribed === now.subscribed &&
    before.total === now.total &&
    before.uidNext === now.uidNext &&
    before.highestModseq === now.highestModseq
  );
}

/** LIST of a mailbox that was deleted, or is no longer shared. RFC 5465 5.4. */
export function mailboxRemoval(before: WatchedMailbox, context: EventContext): string {
  if (!context.events(before).has('MailboxName')) return '';
  return `* LIST (\\NonExistent) "/" ${mailboxName(before.name, context.utf8)}\r\n`;
}

function nameChange(
  before: WatchedMailbox | undefined,
  now: ImapMailboxInfo,
  events: ReadonlySet<NotifyEvent>,
  { events: eventsBy, isOwn, utf8 }: EventContext,
): string {
  const attributes = now.subscribed ? [...listAttributes(now), '\\Subscribed'] : listAttributes(now);
  const list = listResponse(now, utf8, attributes);
  if (before === undefined) return events.has('MailboxName') && !isOwn(now.name) ? `${list}\r\n` : '';
  const had = eventsBy(before);
  const wants = (event: NotifyEvent): boolean => events.has(event) || had.has(event);
  if (before.name !== now.name && wants('MailboxName')) {
    return `${list} ("OLDNAME" (${oldName(before.name, utf8)}))\r\n`;
  }
  return before.subscribed !== now.subscribed && wants('SubscriptionChange') ? `${list}\r\n` : '';
}

/** RFC 5258 6: the old name is a string, quoted also where an atom would do. */
function oldName(name: string, utf8: boolean): string {
  const encoded = mailboxName(name, utf8);
  return /^["{]/.test(encoded) ? encoded : string(encoded);
}

/** STATUS of a mailbox whose messages changed. RFC 5465 5.1 to 5.3. */
function messageChange(
  before: WatchedMailbox | undefined,
  now: ImapMailboxInfo,
  events: ReadonlySet<NotifyEvent>,
  context: EventContext,
): string {
  if (now.id === context.selected || !isReadable(now)) return '';
  const counts = before === undefined ? now.total > 0 : before.total !== now.total || before.uidNext !== now.uidNext;
  if (counts && events.has('MessageNew')) return context.status(now, statusItems(events, context.condstore));
  const isChanged = before !== undefined && before.highestModseq !== now.highestModseq;
  return isChanged && events.has('FlagChange') ? context.status(now, [...FLAG_ITEMS]) : '';
}

/** Tests if a STATUS of the mailbox may be sent. */
export function isReadable(of: ImapMailboxInfo): boolean {
  return isSelectable(of) && hasRight(of, 'r');
}

const FLAG_ITEMS: readonly StatusItem[] = ['UIDVALIDITY', 'UNSEEN', 'HIGHESTMODSEQ'];

/** Items of the STATUS responses of a mailbox. RFC 5465 3.1: with FlagChange HIGHESTMODSEQ, as CONDSTORE is there. */
export function statusItems(events: ReadonlySet<NotifyEvent>, condstore: boolean): StatusItem[] {
  const items: StatusItem[] = ['MESSAGES', 'UIDNEXT', 'UIDVALIDITY', 'UNSEEN'];
  return events.has('FlagChange') || condstore ? [...items, 'HIGHESTMODSEQ'] : items;
}
