import { textValue } from '../../mail/jmap/email/body-value.ts';
import { countLetters } from '../../mail/policy/letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type Removed } from '../untrusted/untrusted.ts';
import { asHtml, cleanHtml } from './clean-html.ts';
import type { Encoded } from './encoded.ts';
import { htmlReading, type Style } from './html-reading.ts';
import { type Link, LinkBook } from './link-book.ts';
import { plainReading } from './plain-reading.ts';
import { withoutQuotes } from './quoted-text.ts';

/** Octets of one text of a message that are read, and of all of them. */
export const MOST_TEXT = 512 * 1024;
const MOST_TOGETHER = 1024 * 1024;
/** Letters that styles hide, from which on nobody but a person reads a message, and which share of all they are then. */
const MUCH_HIDDEN = 2000;
const MUCH_SHARE = 0.5;
/** The flags of England, Scotland and Wales have six each. */
const MUCH_TAGGED = 60;

/** `html`: harmless HTML, with its quotes. */
export type Form = Style | 'html';

/** The texts of a message that is to be read. */
export interface Texts {
  /** What programs show that show HTML. */
  html: readonly Encoded[];
  /** What the others show beside that, or in its place. */
  text: readonly Encoded[];
  form: Form;
  /** Links are asked for: looking at them is work. */
  links: boolean;
}

export interface MessageText {
  /** New text, and what it quotes. */
  own: string;
  quoted: string;
  removed: Removed;
  /** In the order of their handles, with the addresses behind them. None where none were asked for. */
  links: readonly Link[];
  urls: readonly string[];
  /** There is more than is read here. */
  cut: boolean;
  /** It holds far more than a person sees of it. */
  divergent: boolean;
  /** It could not be read in the time that reading may take. */
  unread: boolean;
}

/** What a person who opens a message reads: of HTML and plain text the HTML, as programs show it. Nothing throws. */
export function readTexts({ html, text, form, links }: Texts): MessageText {
  const book = new LinkBook();
  const page = new Texter(form, book);
  const first = page.read(html);
  const shown = first.plain === '' ? added(first, page.read(text)) : first;
  const { own, quoted } = form === 'html' ? { own: shown.text, quoted: '' } : withoutQuotes(shown.text);
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

interface Reading {
  text: string;
  /** The same without signs of any form. */
  plain: string;
  removed: Removed;
}

/** Decodes texts and writes them down, until there are too many. */
class Texter {
  readonly #form: Form;
  readonly #book: LinkBook;
  #left = MOST_TOGETHER;
  cut = false;

  constructor(form: Form, book: LinkBook) {
    this.#form = form;
    this.#book = book;
  }

  read(list: readonly Encoded[]): Reading {
    const readings = list.map((one) => this.#one(one));
    const all = (texts: readonly string[]): string => texts.filter((one) => one !== '').join('\n\n');
    return {
      text: all(readings.map(({ text }) => text)),
      plain: all(readings.map(({ plain }) => plain)),
      removed: sum(readings.map(({ removed }) => removed)),
    };
  }

  #one({ body, octets }: Encoded): Reading {
    const { value, isTruncated } = textValue(octets, body, Math.min(MOST_TEXT, this.#left));
    this.#left -= Buffer.byteLength(value);
    this.cut ||= isTruncated;
    if (body.type !== 'text/html') return this.#plain(value);
    // Handles are those of the plain form, whichever is shown.
    const plain = htmlReading(value, 'text', this.#book);
    if (this.#form === 'text') return { ...plain, plain: plain.text };
    const shown = this.#form === 'html' ? cleanHtml(value, this.#book) : htmlReading(value, this.#form, this.#book);
    return { ...shown, plain: plain.text };
  }

  #plain(value: string): Reading {
    const { text, zeroWidth, tagChars } = visibleText(value);
    const { text: safe, images } = plainReading(text, this.#book);
    const plain = safe.trim();
    return {
      text: this.#form === 'html' && plain !== '' ? asHtml(plain) : plain,
      plain,
      removed: { ...NOTHING_REMOVED, zeroWidth, tagChars, images },
    };
  }
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

/** Octets of HTML that are looked at for its first words: styles that hide them may stand behind. */
export const MOST_STYLED = 96 * 1024;
/** Characters of them. */
const ENOUGH = 300;

/** The first words of what a person sees of an HTML text. Nothing throws. */
export function readOpening({ body, octets }: Encoded): string {
  const { value } = textValue(octets, body, MOST_STYLED);
  return htmlReading(value, 'text', new LinkBook(false), ENOUGH).text;
}
