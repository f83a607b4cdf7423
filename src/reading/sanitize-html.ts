import { decodeEntities } from '../../mail/message/html-entities.ts';
import type { HtmlTag } from '../../mail/policy/html-tags.ts';
import { type HtmlPiece, walkHtml } from '../../mail/policy/html-walk.ts';
import { countLetters } from '../../mail/policy/count-letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type RemovedContent } from '../untrusted/untrusted.ts';
import { isTrackingPixel, withoutComments } from './render-html.ts';
import type { LinkRegistry } from './link-registry.ts';
import { linkMark, replaceLinks, resolveMarks } from './replace-links.ts';

const ALLOWED: ReadonlySet<string> = new Set(
  `b blockquote br caption code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i ins li ol p pre s small strong sub sup table
   tbody td tfoot th thead tr u ul`.split(/\s+/),
);
const VOID: ReadonlySet<string> = new Set(['br', 'hr']);
/** Nesting depth; deeper elements are dropped and their text is kept. */
const MAX_DEPTH = 60;

/**
 * Sanitizes untrusted HTML: keeps structural elements, and of attributes only colspan and rowspan. Removes styles and the
 * content that they hide, replaces links by handles, counts images. Closes every open element.
 */
export function sanitizeHtml(html: string, book: LinkRegistry): { text: string; removed: RemovedContent } {
  const page = new SanitizedPage(book);
  for (const piece of walkHtml(html)) {
    if (piece.kind === 'tag') page.tag(piece);
    else if (piece.unseen === undefined) page.text(withoutComments(piece.text));
    else if (piece.unseen === 'hidden') page.hide(piece.text);
  }
  return page.end();
}

/** Converts plain text to the same HTML form. */
export function preformattedHtml(text: string): string {
  return `<pre>${escaped(text)}</pre>`;
}

class SanitizedPage {
  readonly #book: LinkRegistry;
  readonly #removed = { ...NOTHING_REMOVED };
  readonly #open: string[] = [];
  #out = '';
  #link: { url: string; shown: string } | undefined;

  constructor(book: LinkRegistry) {
    this.#book = book;
  }

  text(raw: string): void {
    const { text, zeroWidth, tagChars } = visibleText(decodeEntities(raw));
    this.#removed.zeroWidth += zeroWidth;
    this.#removed.tagChars += tagChars;
    if (this.#link !== undefined && this.#link.shown.length < 300) this.#link.shown += text;
    const { text: safe, images } = replaceLinks(text, this.#book);
    this.#removed.images += images;
    // A fake handle could be split across a tag.
    this.#out += escaped(safe.replace(/\[(?=\s{0,20}(?:l|li|lin|link)?\s{0,20}$)/i, '('));
  }

  hide(raw: string): void {
    this.#removed.hiddenChars += countLetters(decodeEntities(raw));
  }

  tag({ tag: { name, attributes }, unseen, begins }: Extract<HtmlPiece, { kind: 'tag' }>): void {
    const closing = name.startsWith('/');
    if (begins) this.#removed.hiddenNodes += 1;
    if (unseen !== undefined) {
      if (name === 'img') this.#removed.trackers += 1;
      return;
    }
    const plain = closing ? name.slice(1) : name;
    if (plain === 'a') this.#anchor(closing ? undefined : attributes.get('href'));
    else if (name === 'img') this.#removed[isTrackingPixel(attributes) ? 'trackers' : 'images'] += 1;
    else if (ALLOWED.has(plain)) this.#element(plain, closing, attributes);
  }

  end(): { text: string; removed: RemovedContent } {
    this.#anchor(undefined);
    this.#close(0);
    return { text: this.#out.trim(), removed: this.#removed };
  }

  #element(name: string, closing: boolean, attributes: HtmlTag['attributes']): void {
    if (VOID.has(name)) this.#out += closing ? '' : `<${name}>`;
    else if (closing) this.#close(this.#open.lastIndexOf(name));
    else if (this.#open.length < MAX_DEPTH) {
      this.#open.push(name);
      this.#out += `<${name}${name === 'td' || name === 'th' ? spans(attributes) : ''}>`;
    }
  }

  /** Closes open elements down to index `at`; -1: not open. */
  #close(at: number): void {
    if (at < 0) return;
    for (const name of this.#open.splice(at).reverse()) this.#out += `</${name}>`;
  }

  #anchor(href: string | undefined): void {
    if (this.#link !== undefined) {
      const { url, shown } = this.#link;
      const mark = linkMark(this.#book, url, shown.replace(/\s+/g, ' ').trim().slice(0, 300));
      this.#out += ` ${escaped(resolveMarks(mark, this.#book))}`;
      this.#link = undefined;
    }
    const url = visibleText((href ?? '').slice(0, 4096))
      .text.replace(/[\t\n]+/g, '')
      .trim();
    if (url !== '' && !url.startsWith('#')) this.#link = { url, shown: '' };
  }
}

function spans(attributes: HtmlTag['attributes']): string {
  return ['colspan', 'rowspan']
    .map((name) => [name, attributes.get(name) ?? ''] as const)
    .filter(([, value]) => /^[1-9]\d?$/.test(value))
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
