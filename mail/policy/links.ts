import { htmlText } from '../message/html-text.ts';
import { tagsOf } from './html-tags.ts';
import type { SampleLink } from './sample.ts';

const MOST_LINKS = 200;
const MOST_URL = 2048;
/** Characters of markup that are looked through for what a link shows. */
const SHOWN_WITHIN = 4096;
const MOST_TEXT = 300;

/** The links of an HTML text with what a reader sees in their place. */
export function htmlLinks(html: string): SampleLink[] {
  const links: SampleLink[] = [];
  for (const { name, attributes, end } of tagsOf(html)) {
    if (links.length >= MOST_LINKS) break;
    const url = written(attributes.get(name === 'form' ? 'action' : 'href') ?? '');
    if (!LINKING.has(name) || url === '' || url.startsWith('#')) continue;
    links.push({ url, text: name === 'a' ? shown(html.slice(end, end + SHOWN_WITHIN)) : '' });
  }
  return links;
}

const LINKING: ReadonlySet<string> = new Set(['a', 'area', 'form']);

/** Browsers drop line ends and tabs wherever they stand. */
function written(url: string): string {
  return url
    .slice(0, 2 * MOST_URL)
    .replace(/[\t\r\n]+/g, '')
    .trim()
    .slice(0, MOST_URL);
}

function shown(markup: string): string {
  const end = /<\/a\b|<a\s/i.exec(markup)?.index ?? markup.length;
  return htmlText(markup.slice(0, end), MOST_TEXT).replace(/\s+/g, ' ').trim().slice(0, MOST_TEXT);
}

/** The addresses of pages that stand in a text as they are. */
export function textLinks(text: string): SampleLink[] {
  const links: SampleLink[] = [];
  for (const found of text.matchAll(/(?:https?:\/\/|\bwww\.)[^\s<>"'`{}|\\^[\]\u00a0\u3000]{1,2048}/gi)) {
    if (links.length >= MOST_LINKS) break;
    const url = found[0].replace(/[).,;:!?*]{1,20}$/, '').slice(0, MOST_URL);
    links.push({ url: /^www\./i.test(url) ? `http://${url}` : url, text: '' });
  }
  return links;
}

/** Both, each address with one text once. */
export function linksOf(html: string, text: string): SampleLink[] {
  const all = new Map<string, SampleLink>();
  for (const link of [...htmlLinks(html), ...textLinks(text)]) {
    const key = `${link.url} ${link.text}`;
    if (all.size < MOST_LINKS && !all.has(key)) all.set(key, link);
  }
  return [...all.values()];
}
