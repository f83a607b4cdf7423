import { parseFetch, withoutSeen } from '../fetch/parse.ts';
import type { FetchRequest } from '../fetch/items.ts';
import { type MailboxSource, parseSource } from '../search/sources.ts';
import type { Decoder } from '../wire/decoder.ts';
import { ImapSyntaxError } from '../wire/syntax-error.ts';

/** Events that can be requested. RFC 5465 5; there are no annotations of messages, so AnnotationChange is refused. */
export const NOTIFY_EVENTS = [
  'MessageNew',
  'MessageExpunge',
  'FlagChange',
  'MailboxName',
  'SubscriptionChange',
  'MailboxMetadataChange',
  'ServerMetadataChange',
] as const;

export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

const MESSAGE_EVENTS: readonly NotifyEvent[] = ['MessageNew', 'MessageExpunge', 'FlagChange'];

/** Event groups in one NOTIFY. */
const MAX_GROUPS = 50;

/** Events of the selected mailbox. RFC 5465 6.1, 6.2. */
export interface SelectedEvents {
  /** `selected-delayed`: expunges wait for a command that allows them. */
  readonly delaysExpunge: boolean;
  readonly events: ReadonlySet<NotifyEvent>;
  /** Data of new messages, sent after EXISTS. */
  readonly fetch: FetchRequest | undefined;
}

/** Events of the mailboxes of a source; an empty set (NONE) excludes them from later groups. */
export interface EventGroup {
  readonly source: MailboxSource;
  readonly events: ReadonlySet<NotifyEvent>;
}

/** The arguments of NOTIFY SET. */
export interface NotifyRequest {
  /** STATUS responses of the mailboxes are wanted at once. */
  readonly status: boolean;
  /** Undefined: nothing is sent of the selected mailbox, as with NOTIFY NONE. */
  readonly selected: SelectedEvents | undefined;
  readonly groups: readonly EventGroup[];
  /** An event was named that is not in {@link NOTIFY_EVENTS}. */
  readonly hasUnknownEvent: boolean;
}

/** NOTIFY NONE, and what follows NOTIFICATIONOVERFLOW. RFC 5465 3.1, 5.8. */
export const NOTIFY_NONE: NotifyRequest = { status: false, selected: undefined, groups: [], hasUnknownEvent: false };

interface ParsedEvents {
  readonly events: Set<NotifyEvent>;
  fetch?: FetchRequest;
  hasUnknownEvent?: boolean;
}

/** Reads what follows NOTIFY: `NONE`, or `SET [STATUS] (filter events) ...`. RFC 5465 8. */
export function parseNotify(d: Decoder): NotifyRequest {
  const word = d.sp().word();
  if (word === 'NONE') return NOTIFY_NONE;
  if (word !== 'SET') throw new ImapSyntaxError('Expected SET or NONE');
  const status = !d.sp().ahead('(');
  if (status) d.expect('STATUS').sp();
  let selected: SelectedEvents | undefined;
  let hasUnknownEvent = false;
  const groups: EventGroup[] = [];
  for (let count = 1; ; count += 1) {
    if (count > MAX_GROUPS) throw new ImapSyntaxError(`More than ${MAX_GROUPS} event groups`);
    const group = parseGroup(d);
    hasUnknownEvent ||= group.hasUnknownEvent === true;
    if (group.source !== undefined) groups.push({ source: group.source, events: group.events });
    else if (selected !== undefined) throw new ImapSyntaxError('The selected mailbox has one event group');
    else selected = { delaysExpunge: group.delaysExpunge, events: group.events, fetch: group.fetch };
    if (d.trailing()) return { status, selected, groups, hasUnknownEvent };
    d.sp();
  }
}

type ParsedGroup = ParsedEvents & { source: MailboxSource | undefined; delaysExpunge: boolean };

function parseGroup(d: Decoder): ParsedGroup {
  d.expect('(');
  const word = d.word();
  const isSelected = word === 'SELECTED' || word === 'SELECTED-DELAYED';
  const source = isSelected ? undefined : parseSource(d, word);
  const parsed = parseEvents(d.sp());
  d.expect(')');
  checkEvents(parsed, isSelected);
  return { ...parsed, source, delaysExpunge: word === 'SELECTED-DELAYED' };
}

function parseEvents(d: Decoder): ParsedEvents {
  const parsed: ParsedEvents = { events: new Set() };
  if (!d.ahead('(')) {
    d.expect('NONE');
    return parsed;
  }
  let count = 0;
  d.list((each) => {
    count += 1;
    const word = each.word();
    const event = NOTIFY_EVENTS.find((name) => name.toUpperCase() === word);
    if (event === undefined) parsed.hasUnknownEvent = true;
    else parsed.events.add(event);
    if (event === 'MessageNew' && each.ahead(' (')) parsed.fetch = withoutSeen(parseFetch(each.sp(), false));
  });
  if (count === 0) throw new ImapSyntaxError('Expected an event');
  return parsed;
}

function checkEvents({ events, fetch, hasUnknownEvent }: ParsedEvents, isSelected: boolean): void {
  if (hasUnknownEvent === true) return;
  // RFC 5465 5: a client cannot count messages with one of them alone.
  if (events.has('MessageNew') !== events.has('MessageExpunge'))
    throw new ImapSyntaxError('MessageNew and MessageExpunge need each other');
  if (events.has('FlagChange') && !events.has('MessageNew'))
    throw new ImapSyntaxError('FlagChange needs MessageNew and MessageExpunge');
  if (!isSelected && fetch !== undefined)
    throw new ImapSyntaxError('Data of new messages are sent for the selected mailbox only');
  if (isSelected && ![...events].every((event) => MESSAGE_EVENTS.includes(event)))
    throw new ImapSyntaxError('The selected mailbox has events of messages only');
}
