import type { LinkRegistry } from './link-registry.ts';

/** Placeholders of links during processing; private use characters, which are removed from inbound text. */
const [OPEN, CLOSE] = ['\ue000', '\ue001'];

/** Returns the placeholder of a link. */
export function linkMark(book: LinkRegistry, url: string, shown = ''): string {
  const number = book.add(url, shown);
  return number === undefined ? '[link]' : `${OPEN}${number}${CLOSE}`;
}

/** Replaces placeholders by handles. */
export function resolveMarks(text: string, book: LinkRegistry): string {
  return text.replace(/\ue000(\d{1,3})\ue001/g, (_, number: string) => book.label(Number(number)));
}

// Each part is bounded and disjoint from the previous one: no backtracking.
const ADDRESS =
  /(?:\b[a-z][a-z0-9+.-]{1,20}:\/\/(?:\[[0-9a-f:.]{2,45}\])?|\bwww\.|(?<![\w/])\/\/(?=[\w-]{1,63}\.))[^\s<>"'`{}|\\^[\]\u00a0\u3000\ue000\ue001]{1,4096}/gi;
const OTHER_SCHEME =
  /\b(?:mailto|data|javascript|vbscript|tel|sms|file|blob):[^\s<>"'`{}|\\^[\]()\ue000\ue001]{1,4096}/gi;
/** Markdown targets, `](...)` and `[ref]: ...`. */
const INLINE_TARGET = /\]\(\s{0,20}<?([^\s()<>\ue000\ue001]{1,4096})>?(?:\s[^()\n]{0,300})?\)/g;
const REFERENCE = /^([ \t>]{0,10})\[([^\]\n]{1,200})\]:[ \t]{0,10}<?([^\s<>\ue000\ue001]{1,4096})>?/gm;

/**
 * Replaces all URLs by handles, and defuses markdown images and references, so that a client that renders markdown loads
 * and follows nothing.
 */
export function replaceLinks(text: string, book: LinkRegistry): { text: string; images: number } {
  let images = 0;
  const marked = text
    .replace(REFERENCE, (_, indent: string, name: string, url: string) => `${indent}(${name}) ${markOf(book, url)}`)
    .replace(INLINE_TARGET, (_, url: string) => `] ${markOf(book, url)}`)
    .replace(ADDRESS, (found) => {
      const url = withoutPunctuation(found);
      return `${markOf(book, url)}${found.slice(url.length)}`;
    })
    .replace(OTHER_SCHEME, (url) => markOf(book, url))
    // A URL that is also its link text.
    .replace(/(\ue000\d{1,3}\ue001)(?: {0,3}\1)+/g, '$1');
  const safe = marked
    // A fake handle written by the sender.
    .replace(/\[(?=\s{0,20}link\b)/gi, '(')
    .replace(/!\[/g, () => {
      images += 1;
      return '[';
    })
    // "][" is a markdown reference, "](" a target.
    .replace(/\](?=[[(])/g, '] ');
  return { text: resolveMarks(safe, book), images };
}

function markOf(book: LinkRegistry, url: string): string {
  return linkMark(book, /^www\./i.test(url) ? `http://${url}` : url);
}

/** Strips punctuation after a URL; keeps a closing parenthesis that the URL opened. */
function withoutPunctuation(found: string): string {
  const url = found.replace(/[).,;:!?*_~]{1,20}$/, '');
  const opened = url.lastIndexOf('(') > url.lastIndexOf(')');
  return opened && found[url.length] === ')' ? found.slice(0, url.length + 1) : url;
}
