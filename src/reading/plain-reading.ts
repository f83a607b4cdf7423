import type { LinkBook } from './link-book.ts';

/** Marks the place of a link until all of the text has been looked through; no text that comes in has these. */
const [OPEN, CLOSE] = ['\ue000', '\ue001'];

/** The mark of a link in a text that is still to be made safe. */
export function linkMark(book: LinkBook, url: string, shown = ''): string {
  const number = book.add(url, shown);
  return number === undefined ? '[link]' : `${OPEN}${number}${CLOSE}`;
}

/** Marks as what readers see. */
export function shownMarks(text: string, book: LinkBook): string {
  return text.replace(/\ue000(\d{1,3})\ue001/g, (_, number: string) => book.label(Number(number)));
}

// Each part is bounded, and cannot match what the part before it matches.
const ADDRESS =
  /(?:\b[a-z][a-z0-9+.-]{1,20}:\/\/(?:\[[0-9a-f:.]{2,45}\])?|\bwww\.|(?<![\w/])\/\/(?=[\w-]{1,63}\.))[^\s<>"'`{}|\\^[\]\u00a0\u3000\ue000\ue001]{1,4096}/gi;
const OTHER_SCHEME =
  /\b(?:mailto|data|javascript|vbscript|tel|sms|file|blob):[^\s<>"'`{}|\\^[\]()\ue000\ue001]{1,4096}/gi;
/** `](...)` and `[ref]: ...` of markdown, whatever they lead to. */
const INLINE_TARGET = /\]\(\s{0,20}<?([^\s()<>\ue000\ue001]{1,4096})>?(?:\s[^()\n]{0,300})?\)/g;
const REFERENCE = /^([ \t>]{0,10})\[([^\]\n]{1,200})\]:[ \t]{0,10}<?([^\s<>\ue000\ue001]{1,4096})>?/gm;

/**
 * A text in which no address of a page stands any more, and nothing that a program which shows markdown would load or
 * follow: links are handles, pictures and references are words.
 */
export function plainReading(text: string, book: LinkBook): { text: string; images: number } {
  let images = 0;
  const marked = text
    .replace(REFERENCE, (_, indent: string, name: string, url: string) => `${indent}(${name}) ${markOf(book, url)}`)
    .replace(INLINE_TARGET, (_, url: string) => `] ${markOf(book, url)}`)
    .replace(ADDRESS, (found) => {
      const url = withoutEnd(found);
      return `${markOf(book, url)}${found.slice(url.length)}`;
    })
    .replace(OTHER_SCHEME, (url) => markOf(book, url))
    // An address that is its own text.
    .replace(/(\ue000\d{1,3}\ue001)(?: {0,3}\1)+/g, '$1');
  const safe = marked
    // A handle of the sender's own making.
    .replace(/\[(?=\s{0,20}link\b)/gi, '(')
    .replace(/!\[/g, () => {
      images += 1;
      return '[';
    })
    // Between two of them it is a reference; before a parenthesis, a target.
    .replace(/\](?=[[(])/g, '] ');
  return { text: shownMarks(safe, book), images };
}

function markOf(book: LinkBook, url: string): string {
  return linkMark(book, /^www\./i.test(url) ? `http://${url}` : url);
}

/** Signs behind an address belong to the sentence; a parenthesis that it opened itself is its own. */
function withoutEnd(found: string): string {
  const url = found.replace(/[).,;:!?*_~]{1,20}$/, '');
  const opened = url.lastIndexOf('(') > url.lastIndexOf(')');
  return opened && found[url.length] === ')' ? found.slice(0, url.length + 1) : url;
}
