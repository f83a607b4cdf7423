import { decodeEntities } from '../../mail/message/html-entities.ts';
import { isComment, commentEnd } from '../../mail/policy/html-tags.ts';
import { type HtmlPiece, walkHtml } from '../../mail/policy/html-walk.ts';
import { countLetters } from '../../mail/policy/count-letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type RemovedContent } from '../untrusted/untrusted.ts';
import type { LinkRegistry } from './link-registry.ts';
import { linkMark, replaceLinks } from './replace-links.ts';
import type { TextStyle } from '../core/text-tasks.ts';

const BLOCKS: ReadonlySet<string> = new Set(
  `address article aside blockquote center dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header
   hr li main nav ol p pre section table tbody tfoot thead tr ul`.split(/\s+/),
);
/** Elements with an empty line around them. */
const SPACED: ReadonlySet<string> = new Set('blockquote dl h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' '));
const MARKERS: Readonly<Record<string, string>> = { b: '**', strong: '**', i: '*', em: '*', code: '`' };
/** Deeper quotes are shown at this depth. */
const MAX_QUOTE_DEPTH = 5;

/** Renders the visible text of HTML, at least `enough` characters if available. Links become handles; images and hidden content are counted. */
export function renderHtml(
  html: string,
  style: TextStyle,
  book: LinkRegistry,
  enough = Infinity,
): { text: string; removed: RemovedContent } {
  const page = new TextPage(style, book);
  for (const piece of walkHtml(html)) {
    if (page.length >= enough) break;
    if (piece.kind === 'tag') page.tag(piece);
    else if (piece.unseen === undefined) page.text(withoutComments(piece.text));
    else if (piece.unseen === 'hidden') page.hide(piece.text);
  }
  return page.end();
}

/** Removes comments and declarations, which the walk keeps; an unclosed one extends to the end. */
export function withoutComments(text: string): string {
  let out = '';
  for (let at = 0; at < text.length;) {
    const open = nextComment(text, at);
    out += text.slice(at, open);
    if (open === text.length) break;
    at = commentEnd(text, open);
  }
  return out;
}

function nextComment(text: string, from: number): number {
  for (let at = text.indexOf('<', from); at >= 0; at = text.indexOf('<', at + 1)) {
    if (isComment(text, at)) return at;
  }
  return text.length;
}

/** Collects rendered lines. */
class TextPage {
  readonly #style: TextStyle;
  readonly #book: LinkRegistry;
  readonly #removed = { ...NOTHING_REMOVED };
  readonly #lines: string[] = [];
  /** Characters so far. */
  length = 0;
  /** Built from many small pieces; reading it in between would flatten the string each time (quadratic). */
  #line = '';
  #endsBlank = true;
  #hasWords = false;
  #quotes = 0;
  #pre = 0;
  /** Open link: its URL and the text shown so far. */
  #link: { url: string; shown: string } | undefined;

  constructor(style: TextStyle, book: LinkRegistry) {
    this.#style = style;
    this.#book = book;
  }

  text(raw: string): void {
    const { text, zeroWidth, tagChars } = visibleText(decodeEntities(raw));
    this.length += text.trim().length;
    this.#removed.zeroWidth += zeroWidth;
    this.#removed.tagChars += tagChars;
    if (this.#link !== undefined && this.#link.shown.length < 300) this.#link.shown += text;
    if (this.#pre > 0) {
      for (const [i, line] of text.split('\n').entries()) {
        if (i > 0) this.#break();
        this.#write(line);
      }
      return;
    }
    const words = text.replace(/\s+/g, ' ');
    this.#write(this.#endsBlank ? words.trimStart() : words);
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
    if (BLOCKS.has(plain)) this.#block(plain, closing);
    else if (plain === 'a') this.#anchor(closing ? undefined : attributes.get('href'));
    else if (name === 'br') this.#break();
    else if (name === 'img') this.#removed[isTrackingPixel(attributes) ? 'trackers' : 'images'] += 1;
    else if ((plain === 'td' || plain === 'th') && closing) this.text(' ');
    else if (this.#style === 'markdown') this.#write(MARKERS[plain] ?? '');
  }

  end(): { text: string; removed: RemovedContent } {
    this.#anchor(undefined);
    this.#break();
    const text = this.#lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
    const safe = replaceLinks(text, this.#book);
    return { text: safe.text, removed: { ...this.#removed, images: this.#removed.images + safe.images } };
  }

  #block(name: string, closing: boolean): void {
    if (this.#hasWords) this.#break();
    if (SPACED.has(name) && this.#lines.at(-1)?.replaceAll('> ', '') !== '') this.#break();
    if (name === 'blockquote') this.#quotes = Math.max(0, this.#quotes + (closing ? -1 : 1));
    if (name === 'pre') this.#pre = Math.max(0, this.#pre + (closing ? -1 : 1));
    if (closing) return;
    if (name === 'li') this.#begin('- ');
    if (name === 'hr' && this.#style === 'markdown') this.#lines.push('---');
    if (/^h\d$/.test(name) && this.#style === 'markdown') this.#begin(`${'#'.repeat(Number(name[1]))} `);
  }

  #anchor(href: string | undefined): void {
    const open = this.#link;
    this.#link = undefined;
    if (open !== undefined) {
      const mark = linkMark(this.#book, open.url, open.shown.replace(/\s+/g, ' ').trim().slice(0, 300));
      this.#write(this.#endsBlank ? mark : ` ${mark}`);
    }
    const url = visibleText((href ?? '').slice(0, 4096))
      .text.replace(/[\t\n]+/g, '')
      .trim();
    if (url !== '' && !url.startsWith('#')) this.#link = { url, shown: '' };
  }

  #break(): void {
    const quote = '> '.repeat(Math.min(this.#quotes, MAX_QUOTE_DEPTH));
    this.#lines.push(`${quote}${this.#line.trimEnd()}`.trimEnd());
    this.#begin('');
  }

  #begin(text: string): void {
    this.#line = '';
    this.#endsBlank = true;
    this.#hasWords = false;
    this.#write(text);
  }

  #write(text: string): void {
    if (text === '') return;
    this.#line += text;
    this.#endsBlank = text.endsWith(' ');
    this.#hasWords ||= /\S/.test(text);
  }
}

/** Detects invisible images, which report the opening of a message to the sender. */
export function isTrackingPixel(attributes: ReadonlyMap<string, string>): boolean {
  return ['width', 'height'].some((name) => /^[01](?:px)?$/.test((attributes.get(name) ?? '').trim()));
}
