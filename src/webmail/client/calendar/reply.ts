import {
  type CalendarComponent,
  type CalendarProperty,
  componentsOf,
  parameterOf,
  propertyOf,
  propertyValue,
  writeCalendar,
} from './calendar-object.ts';
import type { CalendarEvent } from './event.ts';

/** PARTSTAT of an answer. RFC 5545 3.2.12. */
export type Participation = 'ACCEPTED' | 'TENTATIVE' | 'DECLINED';

export interface Attendee {
  name: string;
  email: string;
}

const PRODUCT = '-//Mailstead//Web mail//EN';

/** The iCalendar object that answers an invitation. RFC 5546 3.2.3: one ATTENDEE, the UID and SEQUENCE of the invitation. */
export function invitationReply(
  event: CalendarEvent,
  who: Attendee,
  answer: Participation,
  now: number,
): Promise<string> {
  const { calendar, components } = event.source;
  const events = components.map((one) => replyEvent(one, who, answer, now));
  const zones = componentsOf(calendar, 'vtimezone').filter((zone) => names(components, propertyValue(zone, 'tzid')));
  const properties: CalendarProperty[] = [
    ['prodid', {}, 'text', PRODUCT],
    ['version', {}, 'text', '2.0'],
    ['method', {}, 'text', 'REPLY'],
  ];
  return writeCalendar(['vcalendar', properties, [...zones, ...events]]);
}

/** The definition of a zone goes along where an occurrence is named in it. RFC 5545 3.2.19. */
const names = (components: readonly CalendarComponent[], zone: string): boolean =>
  components.some((one) => {
    const occurrence = propertyOf(one, 'recurrence-id');
    return occurrence !== undefined && parameterOf(occurrence, 'tzid') === zone;
  });

function replyEvent(
  invited: CalendarComponent,
  { name, email }: Attendee,
  answer: Participation,
  now: number,
): CalendarComponent {
  const [, , type = '', organizer = ''] = propertyOf(invited, 'organizer') ?? [];
  const parameters = { ...(name !== '' && { cn: name.replaceAll('"', "'") }), partstat: answer };
  const copied = ['uid', 'recurrence-id', 'sequence', 'summary'].map((one) => propertyOf(invited, one));
  const stamp = `${new Date(now).toISOString().slice(0, 19)}Z`;
  return [
    'vevent',
    [
      ['dtstamp', {}, 'date-time', stamp],
      ...copied.filter((one) => one !== undefined),
      ['organizer', {}, type, organizer],
      ['attendee', parameters, 'cal-address', `mailto:${email}`],
    ],
    [],
  ];
}
