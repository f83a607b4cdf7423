import { calendarPart } from '../calendar-part.ts';
import type { FullEmail, MailIdentity, MessagePart } from '../jmap-types.ts';
import { blobOf } from '../jmap.ts';
import { folderByRole, identities, isOwnAddress } from '../mail-state.ts';
import { MAX_CALENDAR_OCTETS, readCalendar } from './calendar-object.ts';
import { type CalendarEvent, eventOf, isNewer } from './event.ts';
import type { Participation } from './reply.ts';

/** The calendar part of a message, as far as it can be read. */
export type InvitationState =
  | { kind: 'event'; event: CalendarEvent; newer: CalendarEvent | undefined }
  | { kind: 'too-large' }
  | { kind: 'unreadable' };

/** Keywords by which all mail programs can see the answer. */
export const ANSWER_KEYWORDS = {
  ACCEPTED: '$rsvp-accepted',
  TENTATIVE: '$rsvp-tentative',
  DECLINED: '$rsvp-declined',
} as const satisfies Record<Participation, string>;

/** Events by blob, so that a conversation reads each once. */
const events = new Map<string, Promise<CalendarEvent | undefined>>();
const MAX_EVENTS = 50;
/** Messages of a conversation in which a newer version is looked for. */
const MAX_MESSAGES = 20;

/** Reads the event of a message, and whether a later message of its conversation replaces it. */
export async function loadInvitation(part: MessagePart, thread: readonly FullEmail[]): Promise<InvitationState> {
  if (part.size > MAX_CALENDAR_OCTETS) return { kind: 'too-large' };
  const event = await eventIn(part);
  if (event === undefined) return { kind: 'unreadable' };
  const parts = thread.slice(-MAX_MESSAGES).flatMap(({ attachments }) => calendarPart(attachments) ?? []);
  const others = await Promise.all(parts.filter(({ size }) => size <= MAX_CALENDAR_OCTETS).map(eventIn));
  const newer = others.filter((one) => one !== undefined && isNewer(one, event)).at(-1);
  return { kind: 'event', event, newer };
}

function eventIn({ blobId, type }: MessagePart): Promise<CalendarEvent | undefined> {
  const id = blobId ?? '';
  const known = events.get(id) ?? readEvent(id, type);
  events.set(id, known);
  known.catch(() => events.delete(id));
  for (const [oldest] of events) if (events.size > MAX_EVENTS) events.delete(oldest);
  return known;
}

async function readEvent(blobId: string, type: string): Promise<CalendarEvent | undefined> {
  const text = await (await blobOf(blobId, type)).text();
  const calendar = await readCalendar(text);
  return calendar === undefined ? undefined : eventOf(calendar);
}

/** The identity that an event invites. */
export function invitedIdentity({ attendees }: CalendarEvent): MailIdentity | undefined {
  const invited = new Set(attendees.map(({ email }) => email.toLowerCase()));
  return identities.value.find(({ email }) => invited.has(email.toLowerCase()));
}

export type AnswerObstacle = 'newer' | 'cancelled' | 'no-organizer' | 'own' | 'not-named' | 'in-junk';

/** Why an event cannot be answered; undefined if it can. */
export function answerObstacle(
  email: FullEmail,
  event: CalendarEvent,
  newer: CalendarEvent | undefined,
): AnswerObstacle | undefined {
  const junk = folderByRole('junk')?.id;
  if (event.cancelled || newer?.cancelled === true) return 'cancelled';
  if (newer !== undefined) return 'newer';
  if (event.organizer === undefined) return 'no-organizer';
  if (isOwnAddress(event.organizer.email)) return 'own';
  if (invitedIdentity(event) === undefined) return 'not-named';
  // An answer confirms the address to whoever sent junk.
  return junk !== undefined && email.mailboxIds[junk] === true ? 'in-junk' : undefined;
}

/** The answer that was given to a message. */
export function givenAnswer({ keywords }: FullEmail): Participation | undefined {
  const all = Object.keys(ANSWER_KEYWORDS) as Participation[];
  return all.find((one) => keywords[ANSWER_KEYWORDS[one]] === true);
}
