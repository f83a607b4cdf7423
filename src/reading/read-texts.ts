import { textValue } from '../../mail/jmap/email/body-value.ts';
import { countLetters } from '../../mail/policy/count-letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type RemovedContent } from '../untrusted/untrusted.ts';
import { preformattedHtml, sanitizeHtml } from './sanitize-html.ts';
import { renderHtml } from './render-html.ts';
import { LinkRegistry } from './link-registry.ts';
import { replaceLinks } from './replace-links.ts';
import type { EncodedText, TextForm, MessageText, ReadableParts } from '../core/text-tasks.ts';

/** Octets read of one text, and of all texts of a message. */
export const MAX_TEXT_OCTETS = 512 * 1024;
const MAX_TOTAL_OCTETS = 1024 * 1024;
/** A message with at least this many hidden letters, and this share of all letters, is quarantined. */
const MIN_HIDDEN_CHARS = 2000;
const MIN_HIDDEN_SHARE = 0.5;
/** Tag characters; the flags of England, Scotland and Wales have six each. */
const MIN_TAG_CHARS = 60;

/** Renders the text that a person sees: HTML if present, as mail programs do, else plain text. Never throws. */
export function readTexts({ html, text, form, links }: ReadableParts): MessageText {
  const book = new LinkRegistry();
  const page = new TextRenderer(form, book);
  const first = page.read(html);
  const shown = first.plain === '' ? withRemoved(first, page.read(text)) : first;
  const { own, quoted } = form === 'html' ? { own: shown.text, quoted: '' } : splitQuotes(shown.text);
  return {
    own,
    quoted,
    removed: shown.removed,
    links: links ? book.links : [],
    urls: links ? book.urls : [],
    cut: page.cut,
    divergent: isDivergent(shown),
    unread: false,
  };
}

interface RenderedText {
  text: string;
  /** The same as plain text. */
  plain: string;
  removed: RemovedContent;
}

/** Decodes and renders texts up to the total limit. */
class TextRenderer {
  readonly #form: TextForm;
  readonly #book: LinkRegistry;
  #remaining = MAX_TOTAL_OCTETS;
  cut = false;

  constructor(form: TextForm, book: LinkRegistry) {
    this.#form = form;
    this.#book = book;
  }

  read(list: readonly EncodedText[]): RenderedText {
    const readings = list.map((one) => this.#one(one));
    const all = (texts: readonly string[]): string => texts.filter((one) => one !== '').join('\n\n');
    return {
      text: all(readings.map(({ text }) => text)),
      plain: all(readings.map(({ plain }) => plain)),
      removed: sum(readings.map(({ removed }) => removed)),
    };
  }

  #one({ body, octets }: EncodedText): RenderedText {
    const { value, isTruncated } = textValue(octets, body, Math.min(MAX_TEXT_OCTETS, this.#remaining));
    this.#remaining -= Buffer.byteLength(value);
    this.cut ||= isTruncated;
    if (body.type !== 'text/html') return this.#plain(value);
    // Handles are assigned by the plain form, whichever form is shown.
    const plain = renderHtml(value, 'text', this.#book);
    if (this.#form === 'text') return { ...plain, plain: plain.text };
    const shown = this.#form === 'html' ? sanitizeHtml(value, this.#book) : renderHtml(value, this.#form, this.#book);
    return { ...shown, plain: plain.text };
  }

  #plain(value: string): RenderedText {
    const { text, zeroWidth, tagChars } = visibleText(value);
    const { text: safe, images } = replaceLinks(text, this.#book);
    const plain = safe.trim();
    return {
      text: this.#form === 'html' && plain !== '' ? preformattedHtml(plain) : plain,
      plain,
      removed: { ...NOTHING_REMOVED, zeroWidth, tagChars, images },
    };
  }
}

const withRemoved = (one: RenderedText, other: RenderedText): RenderedText => ({
  ...other,
  removed: sum([one.removed, other.removed]),
});

function sum(all: readonly RemovedContent[]): RemovedContent {
  const total = { ...NOTHING_REMOVED };
  const names = Object.keys(total) as (keyof RemovedContent)[];
  for (const one of all) for (const name of names) total[name] += one[name];
  return total;
}

function isDivergent({ plain, removed }: RenderedText): boolean {
  if (removed.tagChars >= MIN_TAG_CHARS) return true;
  const share = removed.hiddenChars / Math.max(1, removed.hiddenChars + countLetters(plain));
  return removed.hiddenChars >= MIN_HIDDEN_CHARS && share >= MIN_HIDDEN_SHARE;
}

/** Octets of HTML read for its first words; style sheets may follow that hide them. */
export const MAX_OPENING_OCTETS = 96 * 1024;
/** Characters of first words. */
const OPENING_CHARS = 300;

/** Renders the first visible words of HTML. Never throws. */
export function readOpening({ body, octets }: EncodedText): string {
  const { value } = textValue(octets, body, MAX_OPENING_OCTETS);
  return renderHtml(value, 'text', new LinkRegistry(false), OPENING_CHARS).text;
}

/** Attribution line, "On Monday Anna wrote:", in the languages of common mail programs. */
const ATTRIBUTION =
  /^(?:On|Am|Le|El|Il|Em|Op|Den|Dne|W dniu|Pada|Vào|\d{4}|\S{1,12},? \d).{0,300}(?::|\uff1a)\s{0,4}$/u;
const WROTE =
  /(?:wrote|schrieb|\u00e9crit|escribi\u00f3|ha scritto|escreveu|schreef|skrev|napsal|napisa\u0142|\u043f\u0438\u0448\u0435\u0442|\u043d\u0430\u043f\u0438\u0441\u0430\u043b|\u5199\u9053|\u5199\u5230|\u66f8\u304d\u307e\u3057\u305f|\uc791\uc131|kirjoitti|yazd\u0131)/u;
const SEPARATOR =
  /^-{2,20} ?(?:Original Message|Urspr\u00fcngliche Nachricht|Message d'origine|Mensaje original|Messaggio originale|Mensagem original|Oorspronkelijk bericht) ?-{2,20}$/i;

/** Lines after an attribution within which the quote must begin. */
const MAX_LINES_TO_QUOTE = 4;

/** Splits a text into new and quoted lines. A text that is all quote is kept whole. */
export function splitQuotes(text: string): { own: string; quoted: string } {
  const own: string[] = [];
  const quoted: string[] = [];
  const lines = text.split('\n');
  const separator = lines.findIndex((line) => SEPARATOR.test(line.trim()));
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const isQuoted = separator >= 0 && at >= separator;
    if (isQuoted || line.startsWith('>') || introducesQuote(lines, at)) quoted.push(line);
    else own.push(line);
  }
  const left = own
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  return left === '' || quoted.length === 0 ? { own: text, quoted: '' } : { own: left, quoted: quoted.join('\n') };
}

/** True for an attribution right before a quote, possibly wrapped into two lines. */
function introducesQuote(lines: readonly string[], at: number): boolean {
  if (!lines.slice(at + 1, at + 1 + MAX_LINES_TO_QUOTE).some((later) => later.startsWith('>'))) return false;
  const [line = '', next = ''] = lines.slice(at, at + 2);
  const one = line.length < 400 && WROTE.test(line) && ATTRIBUTION.test(line.trim());
  const both = `${line} ${next}`.trim();
  const two = !one && line !== '' && both.length < 400 && WROTE.test(next) && ATTRIBUTION.test(both);
  const last = /[:\uff1a]\s{0,4}$/.test(line) && line.length < 400 && WROTE.test(line);
  if (!one && !two && !last) return false;
  const following = lines.slice(at + (two ? 2 : 1), at + 1 + MAX_LINES_TO_QUOTE).find((later) => later.trim() !== '');
  return following?.startsWith('>') === true;
}
