import { UNREADABLE_TEXT } from '../../mail/store/blob/unreadable.ts';
import { bodyLists, bodyTree } from '../../mail/jmap/email/body-part.ts';
import { textValue } from '../../mail/jmap/email/body-value.ts';
import { storedSource } from '../../mail/jmap/email/message-source.ts';
import { type BodyPart } from '../../mail/jmap/email/body-part.ts';
import { encodedOctets } from '../../mail/jmap/email/body-value.ts';
import type { EmailRow } from '../../mail/store/message/email-rows.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { NOTHING_REMOVED } from '../untrusted/untrusted.ts';
import { MAX_OPENING_OCTETS, MAX_TEXT_OCTETS } from './read-texts.ts';
import type { TextForm, MessageText, TextTaskRunner, EncodedText } from '../core/text-tasks.ts';
import type { MessageSource } from '../../mail/jmap/email/message-source.ts';

/** Dependencies for reading messages. */
export interface ReadingContext {
  readonly store: MailStore;
  readonly texts: TextTaskRunner;
}

/** Text of a message that could not be parsed in time; nothing of it is shown. */
const UNREADABLE: MessageText = {
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
 * Reads the text that a person sees on opening a message, optionally with links. The row must include listing and
 * structure.
 */
export async function messageText(
  { store, texts }: ReadingContext,
  row: EmailRow,
  { form = 'text', links = false }: { form?: TextForm; links?: boolean } = {},
): Promise<MessageText> {
  const source = storedSource({ store }, row, false);
  const { htmlBody, textBody } = bodyLists(bodyTree(source));
  const inHtml = new Set(htmlBody);
  const encoded = await encodedTexts(source, new Set([...htmlBody, ...textBody]), MAX_TEXT_OCTETS);
  const html = encoded.filter(({ body }) => inHtml.has(body));
  const text = encoded.filter(({ body }) => !inHtml.has(body));
  const read = (await texts.read('texts', { html, text, form, links })) ?? UNREADABLE;
  const { secretLinks } = store;
  const shown = [read.own, read.quoted, ...read.urls].join('\n');
  // The octets were searched at delivery; tags and charsets such as UTF-7 can hide a link there that is whole here.
  return secretLinks?.mayBeIn(Buffer.from(shown)) === true && secretLinks.in(shown)
    ? { ...read, secretLink: true }
    : read;
}

/**
 * Reads the first visible words of an HTML message; unlike the stored preview, without hidden text. Undefined for plain
 * text.
 */
export async function openingText({ store, texts }: ReadingContext, row: EmailRow): Promise<string | undefined> {
  const source = storedSource({ store }, row, false);
  const { htmlBody } = bodyLists(bodyTree(source));
  const [first] = await encodedTexts(
    source,
    htmlBody.filter(({ type }) => type === 'text/html').slice(0, 1),
    MAX_OPENING_OCTETS,
  );
  return first === undefined ? undefined : ((await texts.read('opening', first)) ?? '');
}

const MAX_CALENDARS = 5;
/** Octets read of one calendar. */
const MAX_CALENDAR_OCTETS = 64 * 1024;

/** Reads the calendar parts of a message. */
export async function calendarTexts(store: MailStore, row: EmailRow): Promise<string[]> {
  const source = storedSource({ store }, row, false);
  const { attachments } = bodyLists(bodyTree(source));
  const calendars = attachments.filter(({ type }) => type === 'text/calendar').slice(0, MAX_CALENDARS);
  const encoded = await encodedTexts(source, calendars, MAX_CALENDAR_OCTETS);
  return encoded.map(({ body, octets }) => textValue(octets, body, MAX_CALENDAR_OCTETS).value.replace(/\n[ \t]/g, ''));
}

/** Encoded octets of all texts of a message. */
const MAX_TOTAL_OCTETS = 4 * 1024 * 1024;

/** Reads the encoded texts of a message, each up to about `most` decoded octets. */
export async function encodedTexts(
  source: Pick<MessageSource, 'read'>,
  bodies: Iterable<BodyPart>,
  most: number,
): Promise<EncodedText[]> {
  const texts: EncodedText[] = [];
  let left = MAX_TOTAL_OCTETS;
  for (const body of bodies) {
    const { part } = body;
    if (part.type !== 'text') continue;
    const length = Math.min(part.bodyLength, encodedOctets(most, part), left);
    const octets = await source.read(part.bodyOffset, length);
    left -= octets.length;
    texts.push({ body, octets }, ...(octets.length < length ? [damageNote(body)] : []));
  }
  return texts;
}

/** Says in place of the missing octets that the stored message is damaged. */
function damageNote(body: BodyPart): EncodedText {
  const octets = Buffer.from(UNREADABLE_TEXT);
  const part = { ...body.part, encoding: '7bit', bodyLength: octets.length };
  return { body: { ...body, part, type: 'text/plain', charset: 'utf-8' }, octets };
}
