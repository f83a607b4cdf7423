import { decodeEntities } from './html-entities.ts';

/** Elements whose content is not displayed. */
const UNSEEN = ['style', 'script', 'head', 'title', 'template', 'noscript'];

/** Extracts about `enough` characters of text from HTML, for previews and search. One pass, no tree. */
export function htmlText(html: string, enough: number): string {
  let out = '';
  let blank = true;
  for (let at = 0; at < html.length && out.length < enough;) {
    const open = html.indexOf('<', at);
    const end = open < 0 ? html.length : open;
    const tag = /[a-z/!?]/i.test(html[open + 1] ?? ''); // "a < b" is no tag
    const words = decodeEntities(html.slice(at, end)).replace(/\s+/g, ' ') + (open < 0 ? '' : tag ? ' ' : '<');
    // Collapses the blanks between table tags.
    const seen: string = blank ? words.trimStart() : words;
    if (seen !== '') blank = seen.endsWith(' ');
    out += seen;
    at = open < 0 ? html.length : tag ? afterTag(html, open) : open + 1;
  }
  return out;
}

/** Index after the tag, comment or hidden element that begins at `open`. */
function afterTag(html: string, open: number): number {
  if (html.startsWith('<!--', open)) return past(html, '-->', open + 4);
  const name = /^[a-z]+/.exec(html.slice(open + 1, open + 12).toLowerCase())?.[0] ?? '';
  const close = past(html, '>', open + 1);
  return UNSEEN.includes(name) ? unseenEnd(html, name, close) : close;
}

function past(html: string, stop: string, from: number): number {
  const at = html.indexOf(stop, from);
  return at < 0 ? html.length : at + stop.length;
}

function unseenEnd(html: string, name: string, from: number): number {
  for (let at = html.indexOf('</', from); at >= 0; at = html.indexOf('</', at + 2)) {
    if (html.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return past(html, '>', at);
  }
  return html.length;
}
