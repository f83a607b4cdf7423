import { entities } from '../message/html-text.ts';

/** A tag as it stands in a text. */
export interface Tag {
  /** Lower case; of a closing tag with its `/`. */
  name: string;
  /** By lower-case name, character references resolved; of two with one name the first, as browsers have it. */
  attributes: ReadonlyMap<string, string>;
  /** It has more attributes than are read: nobody here knows what they say. */
  isCut: boolean;
  /** Where it begins and where the text goes on. */
  start: number;
  end: number;
}

const MOST_ATTRIBUTES = 60;
const MOST_VALUE = 8192;
/** What is cut off from these could hide the element. */
const WHOLE: ReadonlySet<string> = new Set(['style', 'class', 'id']);
const BETWEEN = /[\s/]+/y;
// No part of it can match what the part before it matches, so each character is looked at a fixed number of times.
const ATTRIBUTE = /([^\s=>/"']{1,100})(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y;
const NAME = /\/?[a-z][a-z0-9:-]{0,30}/iy;

/** Nothing in these is a tag but their own end. HTML 13.2.6.2. */
const RAW: ReadonlySet<string> = new Set('iframe noembed noframes script style textarea title xmp'.split(' '));
const NOTE_END = /--!?>/g;

/** The tags of an HTML text, in order, those in comments and in {@link RAW} left out. One pass; nothing throws. */
export function* tagsOf(html: string): Generator<Tag> {
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    NAME.lastIndex = at + 1;
    const name = NAME.exec(html)?.[0].toLowerCase();
    if (name === undefined) {
      at = isNote(html, at) ? noteEnd(html, at) : at + 1;
      continue;
    }
    const tag = tagAt(html, name, at);
    yield tag;
    at = RAW.has(name) ? rawEnd(html, name, tag.end) : tag.end;
    if (name === 'plaintext') return;
  }
}

/** Whether a comment begins here, or something else that is none and that nobody is shown. */
export function isNote(html: string, at: number): boolean {
  return html[at] === '<' && /[!?/]/.test(html[at + 1] ?? '');
}

/** Where the text goes on behind a comment, or behind what is left out like one. HTML 13.2.5.42 to 13.2.5.52. */
export function noteEnd(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return past(html, '>', at + 2);
  if (html[at + 4] === '>') return at + 5;
  if (html.startsWith('->', at + 4)) return at + 6;
  NOTE_END.lastIndex = at + 4;
  return NOTE_END.exec(html) === null ? html.length : NOTE_END.lastIndex;
}

function rawEnd(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}(?=[\\s/>])`, 'gi');
  end.lastIndex = from;
  return end.exec(html)?.index ?? html.length;
}

/** The tag of this name that begins here. */
export function tagAt(html: string, name: string, start: number): Tag {
  return { name, start, ...attributesAt(html, start + 1 + name.length) };
}

function attributesAt(html: string, from: number): Pick<Tag, 'attributes' | 'isCut' | 'end'> {
  const attributes = new Map<string, string>();
  let at = from;
  while (at < html.length) {
    BETWEEN.lastIndex = at;
    // Passed for good: where no attribute follows they are not gone through again from each of them.
    at += BETWEEN.exec(html)?.[0].length ?? 0;
    ATTRIBUTE.lastIndex = at;
    const found = attributes.size < MOST_ATTRIBUTES ? ATTRIBUTE.exec(html) : null;
    if (found === null) {
      const char = html[at] ?? '';
      if (attributes.size >= MOST_ATTRIBUTES) at = past(html, '>', at);
      else at += 1;
      if (char === '>' || attributes.size >= MOST_ATTRIBUTES) break;
      continue;
    }
    at = ATTRIBUTE.lastIndex;
    const name = (found[1] ?? '').toLowerCase();
    const value = found[2] ?? found[3] ?? found[4] ?? '';
    if (!attributes.has(name)) attributes.set(name, entities(WHOLE.has(name) ? value : value.slice(0, MOST_VALUE)));
  }
  return { attributes, isCut: attributes.size >= MOST_ATTRIBUTES, end: Math.min(at, html.length) };
}

function past(html: string, stop: string, from: number): number {
  const at = html.indexOf(stop, from);
  return at < 0 ? html.length : at + stop.length;
}
