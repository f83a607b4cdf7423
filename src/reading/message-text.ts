import { bodyTree } from '../../mail/jmap/email/body-part.ts';
import { bodyLists } from '../../mail/jmap/email/body-lists.ts';
import { textValue } from '../../mail/jmap/email/body-value.ts';
import { storedSource } from '../../mail/jmap/email/stored-source.ts';
import type { EmailRow } from '../../mail/store/email-rows.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { NOTHING_REMOVED } from '../untrusted/untrusted.ts';
import type { TextReader } from './apart/text-reader.ts';
import { encodedTexts } from './encoded.ts';
import { type Form, type MessageText, MOST_STYLED, MOST_TEXT } from './read-texts.ts';

/** What reading a message needs. */
export interface Library {
  readonly store: MailStore;
  readonly texts: TextReader;
}

/** Nothing is known of what it shows and what it hides, so nothing of it is shown. */
const UNREAD: MessageText = {
  own: '',
  quoted: '',
  removed: NOTHING_REMOVED,
  links: [],
  urls: [],
  cut: true,
  divergent: true,
  unread: true,
};

/**
 * What a person who opens a message reads; with its links where they are asked for. The row has its listing and its
 * structure.
 */
export async function messageText(
  { store, texts }: Library,
  row: EmailRow,
  { form = 'text', links = false }: { form?: Form; links?: boolean } = {},
): Promise<MessageText> {
  const source = storedSource({ store }, row, false);
  const { htmlBody, textBody } = bodyLists(bodyTree(source));
  const inHtml = new Set(htmlBody);
  const encoded = await encodedTexts(source, new Set([...htmlBody, ...textBody]), MOST_TEXT);
  const html = encoded.filter(({ body }) => inHtml.has(body));
  const text = encoded.filter(({ body }) => !inHtml.has(body));
  return (await texts.read('texts', { html, text, form, links })) ?? UNREAD;
}

/**
 * The first words of a message that is shown as HTML, without what is hidden in it, which the stored preview has;
 * undefined: it is plain text.
 */
export async function openingWords({ store, texts }: Library, row: EmailRow): Promise<string | undefined> {
  const source = storedSource({ store }, row, false);
  const { htmlBody } = bodyLists(bodyTree(source));
  const [first] = await encodedTexts(
    source,
    htmlBody.filter(({ type }) => type === 'text/html').slice(0, 1),
    MOST_STYLED,
  );
  return first === undefined ? undefined : ((await texts.read('opening', first)) ?? '');
}

const MOST_CALENDARS = 5;
/** Octets of one; more of it is looked at by nobody. */
const MOST_CALENDAR = 64 * 1024;

/** The texts of the calendar parts of a message. */
export async function calendarTexts(store: MailStore, row: EmailRow): Promise<string[]> {
  const source = storedSource({ store }, row, false);
  const { attachments } = bodyLists(bodyTree(source));
  const calendars = attachments.filter(({ type }) => type === 'text/calendar').slice(0, MOST_CALENDARS);
  const encoded = await encodedTexts(source, calendars, MOST_CALENDAR);
  return encoded.map(({ body, octets }) => textValue(octets, body, MOST_CALENDAR).value.replace(/\n[ \t]/g, ''));
}
