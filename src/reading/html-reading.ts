import { entities } from '../../mail/message/html-text.ts';
import { isNote, noteEnd } from '../../mail/policy/html-tags.ts';
import { type Piece, walkHtml } from '../../mail/policy/html-walk.ts';
import { countLetters } from '../../mail/policy/letters.ts';
import { visibleText } from '../untrusted/invisible.ts';
import { NOTHING_REMOVED, type Removed } from '../untrusted/untrusted.ts';
import type { LinkBook } from './link-book.ts';
import { linkMark, plainReading } from './plain-reading.ts';

/** How an HTML text is written down: words and lines, or with the signs of markdown. */
export type Style = 'text' | 'markdown';

const BLOCKS: ReadonlySet<string> = new Set(
  `address article aside blockquote center dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header
   hr li main nav ol p pre section table tbody tfoot thead tr ul`.split(/\s+/),
);
/** These have an empty line around them. */
const SPACED: ReadonlySet<string> = new Set('blockquote dl h1 h2 h3 h4 h5 h6 ol p pre table ul'.split(' '));
const SIGNS: Readonly<Record<string, string>> = { b: '**', strong: '**', i: '*', em: '*', code: '`' };
/** Deeper quotes look like this one. */
const DEEPEST_QUOTE = 5;

/** What a person sees of an HTML text, as lines of words, at least `enough` characters if there are as many; links are handles, pictures and what is hidden are counted. */
export function htmlReading(
  html: string,
  style: Style,
  book: LinkBook,
  enough = Infinity,
): { text: string; removed: Removed } {
  const page = new Page(style, book);
  for (const piece of walkHtml(html)) {
    if (page.length >= enough) break;
    if (piece.kind === 'tag') page.tag(piece);
    else if (piece.unseen === undefined) page.text(withoutComments(piece.text));
    else if (piece.unseen === 'hidden') page.hide(piece.text);
  }
  return page.end();
}

/** Comments and declarations, which the walk leaves where they stand; what is left open is one to the end. */
export function withoutComments(text: string): string {
  let out = '';
  for (let at = 0; at < text.length;) {
    const open = nextComment(text, at);
    out += text.slice(at, open);
    if (open === text.length) break;
    at = noteEnd(text, open);
  }
  return out;
}

function nextComment(text: string, from: number): number {
  for (let at = text.indexOf('<', from); at >= 0; at = text.indexOf('<', at + 1)) {
    if (isNote(text, at)) return at;
  }
  return text.length;
}

/** Lines as they come to be. */
class Page {
  readonly #style: Style;
  readonly #book: LinkBook;
  readonly #removed = { ...NOTHING_REMOVED };
  readonly #lines: string[] = [];
  /** Characters so far. */
  length = 0;
  /** Grows by many small pieces: nothing looks into it before it ends, which would take as long as it is each time. */
  #line = '';
  #endsBlank = true;
  #hasWords = false;
  #quotes = 0;
  #pre = 0;
  /** Of the link that is open: where it leads, and what stood in its place so far. */
  #link: { url: string; shown: string } | undefined;

  constructor(style: Style, book: LinkBook) {
    this.#style = style;
    this.#book = book;
  }

  text(raw: string): void {
    const { text, zeroWidth, tagChars } = visibleText(entities(raw));
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
    if (BLOCKS.has(plain)) this.#block(plain, closing);
    else if (plain === 'a') this.#anchor(closing ? undefined : attributes.get('href'));
    else if (name === 'br') this.#break();
    else if (name === 'img') this.#removed[isTiny(attributes) ? 'trackers' : 'images'] += 1;
    else if ((plain === 'td' || plain === 'th') && closing) this.text(' ');
    else if (this.#style === 'markdown') this.#write(SIGNS[plain] ?? '');
  }

  end(): { text: string; removed: Removed } {
    this.#anchor(undefined);
    this.#break();
    const text = this.#lines
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
    const safe = plainReading(text, this.#book);
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
    const quote = '> '.repeat(Math.min(this.#quotes, DEEPEST_QUOTE));
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

/** A picture that nobody sees tells its sender that the message was opened. */
export function isTiny(attributes: ReadonlyMap<string, string>): boolean {
  return ['width', 'height'].some((name) => /^[01](?:px)?$/.test((attributes.get(name) ?? '').trim()));
}
