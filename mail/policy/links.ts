import { htmlText } from '../message/html-text.ts';
import { tagsOf } from './html-tags.ts';
import type { SampleLink } from './sample.ts';

const MAX_LINKS = 200;
const MAX_URL = 2048;
/** Characters of markup that are searched for the visible text of a link. */
const MAX_LINK_MARKUP = 4096;
const MAX_LINK_TEXT = 300;

/** Extracts the links of an HTML text with their visible text. */
export function htmlLinks(html: string): SampleLink[] {
  const links: SampleLink[] = [];
  for (const { name, attributes, end } of tagsOf(html)) {
    if (links.length >= MAX_LINKS) break;
    const url = cleanUrl(attributes.get(name === 'form' ? 'action' : 'href') ?? '');
    if (!LINK_ELEMENTS.has(name) || url === '' || url.startsWith('#')) continue;
    links.push({ url, text: name === 'a' ? visibleText(html.slice(end, end + MAX_LINK_MARKUP)) : '' });
  }
  return links;
}

const LINK_ELEMENTS: ReadonlySet<string> = new Set(['a', 'area', 'form']);

/** Removes line ends and tabs, as browsers do. */
function cleanUrl(url: string): string {
  return url
    .slice(0, 2 * MAX_URL)
    .replace(/[\t\r\n]+/g, '')
    .trim()
    .slice(0, MAX_URL);
}

function visibleText(markup: string): string {
  const end = /<\/a\b|<a\s/i.exec(markup)?.index ?? markup.length;
  return htmlText(markup.slice(0, end), MAX_LINK_TEXT).replace(/\s+/g, ' ').trim().slice(0, MAX_LINK_TEXT);
}

/** Extracts the URLs of a plain text. */
export function textLinks(text: string): SampleLink[] {
  const links: SampleLink[] = [];
  for (const found of text.matchAll(/(?:https?:\/\/|\bwww\.)[^\s<>"'`{}|\\^[\]\u00a0\u3000]{1,2048}/gi)) {
    if (links.length >= MAX_LINKS) break;
    const url = found[0].replace(/[).,;:!?*]{1,20}$/, '').slice(0, MAX_URL);
    links.push({ url: /^www\./i.test(url) ? `http://${url}` : url, text: '' });
  }
  return links;
}

/** Combines the links of both, without duplicates. */
export function linksOf(html: string, text: string): SampleLink[] {
  const all = new Map<string, SampleLink>();
  for (const link of [...(html === '' ? [] : htmlLinks(html)), ...textLinks(text)]) {
    const key = `${link.url} ${link.text}`;
    if (all.size < MAX_LINKS && !all.has(key)) all.set(key, link);
  }
  return [...all.values()];
}
