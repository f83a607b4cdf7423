import { readCalendar } from '../../../src/webmail/client/calendar/calendar-object.ts';
import { eventOf } from '../../../src/webmail/client/calendar/event.ts';
import { recurrenceWords } from '../../../src/webmail/client/calendar/recurrence.ts';
import { bareSubject, withoutMarks } from '../../../src/webmail/client/format.ts';
import { parseRecipients } from '../../../src/webmail/client/recipients.ts';
import { searchFilter } from '../../../src/webmail/client/search-query.ts';
import { unsubscribeOffer } from '../../../src/unsubscribe/offer.ts';
import { type CostRow, costs, driven } from './row.ts';

const EVENT = 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART:20260101T000000Z\r\n';
const END = 'END:VEVENT\r\nEND:VCALENDAR\r\n';

/** Reads an invitation up to its words, as its card shows it. */
async function invitation(inner: string): Promise<unknown> {
  const calendar = await readCalendar(`${EVENT}${inner}\r\n${END}`);
  const event = calendar === undefined ? undefined : eventOf(calendar);
  return event === undefined ? undefined : recurrenceWords(event);
}

const results = (text: string): string => `Authentication-Results: mx.example; dkim=pass header.d=${text}\r\n`;

const CALENDARS = costs(
  {
    at: 'src/webmail/client/calendar',
    input: 'calendar of a message',
    bound: '256 KiB, 5,000 lines of 8 KiB',
    thread: 'browser',
    most: 256 * 1024 - 200,
  },
  {
    readCalendar: driven(invitation, {
      worst: [
        'SUMMARY:a\r\n',
        'ATTENDEE:mailto:a@b.example\r\n',
        'ATTENDEE;CN="a":mailto:a@b.example\r\n',
        'EXDATE:20260101,20260102\r\n',
        'BEGIN:VEVENT\r\nEND:VEVENT\r\n',
        'BEGIN:VEVENT\r\n',
        'RDATE:20260101\r\n',
        'RRULE:FREQ=DAILY\r\n',
        '\r\n ',
        ';',
      ],
      made: [
        (size) => `ATTENDEE${';A=b'.repeat(2_000)}:a\r\n`.repeat(size / 8_200),
        (size) => `RRULE:FREQ=WEEKLY;BYDAY=${'MO,'.repeat(2_600)}\r\n`.repeat(size / 8_200),
        (size) => `EXDATE:${'20260101,'.repeat(900)}\r\n`.repeat(size / 8_200),
      ],
    }),
  },
);

const TEXTS = costs(
  {
    at: 'src/webmail/client',
    input: 'text or header of a message that is shown',
    bound: '256 Ki characters of a body',
    thread: 'browser',
    most: 256 * 1024,
  },
  {
    withoutMarks,
    bareSubject: driven(bareSubject, { worst: ['Re:', 'Re[1]:', ' ', 'fwd: '], bound: 'header of 256 KiB' }),
    parseRecipients: driven(parseRecipients, {
      input: 'recipients of a message or template',
      worst: ['a@b.example,', '"', '<', '"a" <a@b.example>,', '@'],
      bound: 'header of 256 KiB',
    }),
    searchFilter: driven(searchFilter, {
      input: 'query of a search',
      worst: ['from:a ', '"', ' "', 'a:', '"a" '],
      bound: '1,000 characters',
      most: 1000,
    }),
  },
);

const LISTS = costs(
  {
    at: 'src/unsubscribe/offer.ts',
    input: 'header of a mailing list',
    bound: 'header of 256 KiB, 10 addresses of 2,000 characters',
    thread: 'main',
    most: 256 * 1024,
  },
  {
    unsubscribeOffer: driven((text) => unsubscribeOffer('', `List-Unsubscribe: ${text}`), {
      worst: ['<https://a.example/>,', '<', '<a', '>', '<mailto:a@b.example?subject=a>'],
    }),
    'unsubscribeOffer: signatures': driven(
      (text) =>
        unsubscribeOffer(
          results('b.example header.s=a'),
          `List-Unsubscribe: <https://a.example/>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n${text}`,
        ),
      { worst: ['DKIM-Signature: d=b.example; s=a; h=a:b\r\n', 'DKIM-Signature: h=a', ':a', ';'] },
    ),
    'unsubscribeOffer: results': driven(
      (text) => unsubscribeOffer(results(text), 'List-Unsubscribe: <https://a.example/>'),
      { worst: ['; dkim=pass header.d=a header.s=b', 'header.d=', ';', ' '] },
    ),
  },
);

/** Functions of web mail that read a stranger's mail, most of them in the browser of its reader. */
export const WEB_MAIL_COSTS: readonly CostRow[] = [...CALENDARS, ...TEXTS, ...LISTS];
