import { decodeAttribute } from '../message/html-entities.ts';

/** A tag of an HTML text. */
export interface HtmlTag {
  /** Lower case; an end tag with its `/`. */
  name: string;
  /** By lower-case name, character references resolved; the first of duplicates, as in browsers. */
  attributes: ReadonlyMap<string, string>;
  /** It has more attributes than {@link MAX_ATTRIBUTES}; the rest is unknown. */
  isCut: boolean;
  /** Offsets of its first character and of the text after it. */
  start: number;
  end: number;
}

const MAX_ATTRIBUTES = 60;
const MAX_VALUE = 8192;
/** Attributes that are never cut, since the rest could hide the element. */
const UNCUT_ATTRIBUTES: ReadonlySet<string> = new Set(['style', 'class', 'id']);
const SEPARATORS = /[\s/]+/y;
// Linear: no part can match what the part before it matches.
const ATTRIBUTE = /([^\s=>/"']{1,100})(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;
const NAME = /\/?[a-z][a-z0-9:-]{0,30}/iy;

/** Raw text elements: nothing in them is a tag except their own end tag. HTML 13.2.6.2. */
const RAW_TEXT_ELEMENTS: ReadonlySet<string> = new Set(
  'iframe noembed noframes script style textarea title xmp'.split(' '),
);
const NOTE_END = /--!?>/g;

/** Iterates the tags of an HTML text, without those in comments and in {@link RAW_TEXT_ELEMENTS}. One pass; never throws. */
export function* tagsOf(html: string): Generator<HtmlTag> {
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    NAME.lastIndex = at + 1;
    const name = NAME.exec(html)?.[0].toLowerCase();
    if (name === undefined) {
      at = isComment(html, at) ? commentEnd(html, at) : at + 1;
      continue;
    }
    const tag = readTag(html, name, at);
    yield tag;
    at = RAW_TEXT_ELEMENTS.has(name) ? rawTextEnd(html, name, tag.end) : tag.end;
    if (name === 'plaintext') return;
  }
}

/** True at the start of a comment, or of a bogus comment, which browsers do not show. */
export function isComment(html: string, at: number): boolean {
  return html[at] === '<' && /[!?/]/.test(html[at + 1] ?? '');
}

/** Returns the offset after a comment or a bogus comment. HTML 13.2.5.42 to 13.2.5.52. */
export function commentEnd(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return indexAfter(html, '>', at + 2);
  if (html[at + 4] === '>') return at + 5;
  if (html.startsWith('->', at + 4)) return at + 6;
  NOTE_END.lastIndex = at + 4;
  return NOTE_END.exec(html) === null ? html.length : NOTE_END.lastIndex;
}

function rawTextEnd(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/** Reads the tag with this name that starts here. */
export function readTag(html: string, name: string, start: number): HtmlTag {
  return { name, start, ...readAttributes(html, start + 1 + name.length) };
}

function readAttributes(html: string, from: number): Pick<HtmlTag, 'attributes' | 'isCut' | 'end'> {
  const attributes = new Map<string, string>();
  let at = from;
  while (at < html.length) {
    SEPARATORS.lastIndex = at;
    // Skipped once, so that separators without an attribute are not scanned again from each position.
    at += SEPARATORS.exec(html)?.[0].length ?? 0;
    ATTRIBUTE.lastIndex = at;
    const found = attributes.size < MAX_ATTRIBUTES ? ATTRIBUTE.exec(html) : null;
    if (found === null) {
      const char = html[at] ?? '';
      if (attributes.size >= MAX_ATTRIBUTES) at = indexAfter(html, '>', at);
      else at += 1;
      if (char === '>' || attributes.size >= MAX_ATTRIBUTES) break;
      continue;
    }
    at = ATTRIBUTE.lastIndex;
    const name = (found[1] ?? '').toLowerCase();
    const value = found[2] ?? found[3] ?? found[4] ?? '';
    if (!attributes.has(name))
      attributes.set(name, decodeAttribute(UNCUT_ATTRIBUTES.has(name) ? value : value.slice(0, MAX_VALUE)));
  }
  return { attributes, isCut: attributes.size >= MAX_ATTRIBUTES, end: Math.min(at, html.length) };
}

function indexAfter(html: string, stop: string, from: number): number {
  const at = html.indexOf(stop, from);
  return at < 0 ? html.length : at + stop.length;
}
