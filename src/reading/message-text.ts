import type { BodyPart } from '../../mail/jmap/email/body-part.ts';
import { bodyTree } from '../../mail/jmap/email/body-part.ts';
import { bodyLists } from '../../mail/jmap/email/body-lists.ts';
import { bodyValues, type EmailBodyValue } from '../../mail/jmap/email/body-value.ts';
import { ReadBudget } from '../../mail/jmap/email/read-budget.ts';
import { storedSource } from '../../mail/jmap/email/stored-source.ts';
import { countLetters } from '../../mail/policy/letters.ts';
import type { EmailRow } from '../../mail/store/email-rows.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type Removed } from '../untrusted/untrusted.ts';
import { asHtml, cleanHtml } from './clean-html.ts';
import { htmlReading, type Style } from './html-reading.ts';
import { LinkBook } from './link-book.ts';
import { plainReading } from './plain-reading.ts';
import { withoutQuotes } from './quoted-text.ts';

/** Octets of one text of a message that are read. */
const MOST_TEXT = 512 * 1024;
const MOST_CALENDARS = 5;
/** Letters that styles hide, from which on nobody but a person reads a message, and which share of all they are then. */
const MUCH_HIDDEN = 2000;
const MUCH_SHARE = 0.5;
/** The flags of England, Scotland and Wales have six each. */
const MUCH_TAGGED = 60;

/** `html`: harmless HTML, with its quotes. */
export type Form = Style | 'html';

export interface MessageText {
  /** New text, and what it quotes. */
  own: string;
  quoted: string;
  removed: Removed;
  links: LinkBook;
  /** There is more than is read here. */
  cut: boolean;
  /** It holds far more than a person sees of it. */
  divergent: boolean;
}

/**
 * What a person who opens a message reads: of HTML and plain text the HTML, as programs show it. The row has its listing
 * and its structure.
 */
export async function messageText(store: MailStore, row: EmailRow, form: Form = 'text'): Promise<MessageText> {
  const source = storedSource({ store }, row, false);
  const { htmlBody, textBody } = bodyLists(bodyTree(source));
  const parts = new Set([...htmlBody, ...textBody].filter(({ part }) => part.type === 'text'));
  const values = await bodyValues(source, parts, MOST_TEXT, new ReadBudget());
  const links = new LinkBook();
  const reading = (list: readonly BodyPart[]): Reading => joined(list, values, form, links);
  const html = reading(htmlBody);
  const shown = html.plain === '' ? added(html, reading(textBody.filter((part) => !htmlBody.includes(part)))) : html;
  const { own, quoted } = form === 'html' ? { own: shown.text, quoted: '' } : withoutQuotes(shown.text);
  return {
    own,
    quoted,
    removed: shown.removed,
    links,
    cut: Object.values(values).some(({ isTruncated }) => isTruncated),
    divergent: isDivergent(shown),
  };
}

/** Octets of HTML that are looked at for its first words; where there are more, a style that hides them may stand behind. */
const MOST_OPENING = 8 * 1024;
const MOST_STYLED = 96 * 1024;
/** Characters of them. */
const ENOUGH = 300;

/**
 * The first words of a message that is shown as HTML, without what is hidden in it, which the stored preview has;
 * undefined: it is plain text.
 */
export async function openingWords(store: MailStore, row: EmailRow): Promise<string | undefined> {
  const source = storedSource({ store }, row, false);
  const { htmlBody } = bodyLists(bodyTree(source));
  const first = htmlBody.find(({ type }) => type === 'text/html');
  if (first === undefined) return undefined;
  const read = async (most: number): Promise<EmailBodyValue | undefined> =>
    (await bodyValues(source, [first], most, new ReadBudget()))[first.part.path];
  const opening = await read(MOST_OPENING);
  const html = opening?.isTruncated === true ? await read(MOST_STYLED) : opening;
  return htmlReading(html?.value ?? '', 'text', new LinkBook(false), ENOUGH).text;
}

/** The texts of the calendar parts of a message. */
export async function calendarTexts(store: MailStore, row: EmailRow): Promise<string[]> {
  const source = storedSource({ store }, row, false);
  const { attachments } = bodyLists(bodyTree(source));
  const calendars = attachments.filter(({ type }) => type === 'text/calendar').slice(0, MOST_CALENDARS);
  const values = await bodyValues(source, calendars, MOST_TEXT, new ReadBudget());
  return Object.values(values).map(({ value }) => value.replace(/\n[ \t]/g, ''));
}

interface Reading {
  text: string;
  /** The same without signs of any form. */
  plain: string;
  removed: Removed;
}

function joined(
  list: readonly BodyPart[],
  values: Readonly<Record<string, EmailBodyValue>>,
  form: Form,
  links: LinkBook,
): Reading {
  const readings = list.flatMap(({ part, type }): Reading[] => {
    const value = values[part.path]?.value;
    if (value === undefined) return [];
    if (type !== 'text/html') return [plainText(value, form, links)];
    // Handles are those of the plain form, whichever is shown.
    const plain = htmlReading(value, 'text', links);
    if (form === 'text') return [{ ...plain, plain: plain.text }];
    const shown = form === 'html' ? cleanHtml(value, links) : htmlReading(value, form, links);
    return [{ ...shown, plain: plain.text }];
  });
  const all = (texts: readonly string[]): string => texts.filter((one) => one !== '').join('\n\n');
  return {
    text: all(readings.map(({ text }) => text)),
    plain: all(readings.map(({ plain }) => plain)),
    removed: sum(readings.map(({ removed }) => removed)),
  };
}

function plainText(value: string, form: Form, links: LinkBook): Reading {
  const { text, zeroWidth, tagChars } = visibleText(value);
  const { text: safe, images } = plainReading(text, links);
  const plain = safe.trim();
  return {
    text: form === 'html' && plain !== '' ? asHtml(plain) : plain,
    plain,
    removed: { ...NOTHING_REMOVED, zeroWidth, tagChars, images },
  };
}

const added = (one: Reading, other: Reading): Reading => ({
  ...other,
  removed: sum([one.removed, other.removed]),
});

function sum(all: readonly Removed[]): Removed {
  const total = { ...NOTHING_REMOVED };
  const names = Object.keys(total) as (keyof Removed)[];
  for (const one of all) for (const name of names) total[name] += one[name];
  return total;
}

function isDivergent({ plain, removed }: Reading): boolean {
  if (removed.tagChars >= MUCH_TAGGED) return true;
  const share = removed.hiddenChars / Math.max(1, removed.hiddenChars + countLetters(plain));
  return removed.hiddenChars >= MUCH_HIDDEN && share >= MUCH_SHARE;
}
