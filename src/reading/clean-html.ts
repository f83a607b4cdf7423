import { entities } from '../../mail/message/html-text.ts';
import type { Tag } from '../../mail/policy/html-tags.ts';
import { type Piece, walkHtml } from '../../mail/policy/html-walk.ts';
import { countLetters } from '../../mail/policy/letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type Removed } from '../untrusted/untrusted.ts';
import { isTiny, withoutComments } from './html-reading.ts';
import type { LinkBook } from './link-book.ts';
import { linkMark, plainReading, shownMarks } from './plain-reading.ts';

const ALLOWED: ReadonlySet<string> = new Set(
  `b blockquote br caption code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i ins li ol p pre s small strong sub sup table
   tbody td tfoot th thead tr u ul`.split(/\s+/),
);
const VOID: ReadonlySet<string> = new Set(['br', 'hr']);
/** Elements inside each other; deeper ones leave their text only. */
const DEEPEST = 60;

/**
 * HTML of a stranger as HTML that does nothing: of elements only those that say how a text is built, of attributes only
 * how many cells one spans. What styles hide is left out, no style is left, links are handles in the text, pictures are
 * counted. Every element that is opened is closed.
 */
export function cleanHtml(html: string, book: LinkBook): { text: string; removed: Removed } {
  const page = new CleanPage(book);
  for (const piece of walkHtml(html)) {
    if (piece.kind === 'tag') page.tag(piece);
    else if (piece.unseen === undefined) page.text(withoutComments(piece.text));
    else if (piece.unseen === 'hidden') page.hide(piece.text);
  }
  return page.end();
}

/** Plain text in the same form. */
export function asHtml(text: string): string {
  return `<pre>${escaped(text)}</pre>`;
}

class CleanPage {
  readonly #book: LinkBook;
  readonly #removed = { ...NOTHING_REMOVED };
  readonly #open: string[] = [];
  #out = '';
  #link: { url: string; shown: string } | undefined;

  constructor(book: LinkBook) {
    this.#book = book;
  }

  text(raw: string): void {
    const { text, zeroWidth, tagChars } = visibleText(entities(raw));
    this.#removed.zeroWidth += zeroWidth;
    this.#removed.tagChars += tagChars;
    if (this.#link !== undefined && this.#link.shown.length < 300) this.#link.shown += text;
    const { text: safe, images } = plainReading(text, this.#book);
    this.#removed.images += images;
    // A handle of the sender's own making could go on behind a tag.
    this.#out += escaped(safe.replace(/\[(?=\s{0,20}(?:l|li|lin|link)?\s{0,20}$)/i, '('));
  }

  hide(raw: string): void {
    this.#removed.hiddenChars += countLetters(entities(raw));
  }

  tag({ tag: { name, attributes }, unseen, begins }: Extract<Piece, { kind: 'tag' }>): void {
    const closing = name.startsWith('/');
    if (begins) this.#removed.hiddenNodes += 1;
    if (unseen !== undefined) {
      if (name === 'img') this.#removed.trackers += 1;
      return;
    }
    const plain = closing ? name.slice(1) : name;
    if (plain === 'a') this.#anchor(closing ? undefined : attributes.get('href'));
    else if (name === 'img') this.#removed[isTiny(attributes) ? 'trackers' : 'images'] += 1;
    else if (ALLOWED.has(plain)) this.#element(plain, closing, attributes);
  }

  end(): { text: string; removed: Removed } {
    this.#anchor(undefined);
    this.#close(0);
    return { text: this.#out.trim(), removed: this.#removed };
  }

  #element(name: string, closing: boolean, attributes: Tag['attributes']): void {
    if (VOID.has(name)) this.#out += closing ? '' : `<${name}>`;
    else if (closing) this.#close(this.#open.lastIndexOf(name));
    else if (this.#open.length < DEEPEST) {
      this.#open.push(name);
      this.#out += `<${name}${name === 'td' || name === 'th' ? spans(attributes) : ''}>`;
    }
  }

  /** Closes all elements down to this place; -1: none was open. */
  #close(at: number): void {
    if (at < 0) return;
    for (const name of this.#open.splice(at).reverse()) this.#out += `</${name}>`;
  }

  #anchor(href: string | undefined): void {
    if (this.#link !== undefined) {
      const { url, shown } = this.#link;
      const mark = linkMark(this.#book, url, shown.replace(/\s+/g, ' ').trim().slice(0, 300));
      this.#out += ` ${escaped(shownMarks(mark, this.#book))}`;
      this.#link = undefined;
    }
    const url = visibleText((href ?? '').slice(0, 4096))
      .text.replace(/[\t\n]+/g, '')
      .trim();
    if (url !== '' && !url.startsWith('#')) this.#link = { url, shown: '' };
  }
}

function spans(attributes: Tag['attributes']): string {
  return ['colspan', 'rowspan']
    .map((name) => [name, attributes.get(name) ?? ''] as const)
    .filter(([, value]) => /^[1-9]\d?$/.test(value))
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
