import { placesOf, type Term } from './search-terms.ts';
import { type Token, tokensOf } from './words.ts';

/** Octets that stand before the first hit in a preview, about. */
const BEFORE = 60;
const OPEN = '<mark>';
const CLOSE = '</mark>';

interface Range {
  start: number;
  end: number;
}

/** The whole text as HTML with what was searched for in `<mark>`, or undefined when nothing of it is there. RFC 8621 5. */
export function highlight(text: string, terms: readonly Term[]): string | undefined {
  const ranges = rangesOf(tokensOf(text), terms);
  return ranges.length === 0 ? undefined : marked(text, 0, ranges, Number.POSITIVE_INFINITY);
}

/** The same of the part of a text around the first hit, at most `octets` of UTF-8 long. */
export function highlightPart(text: string, terms: readonly Term[], octets: number): string | undefined {
  const line = text.replace(/\s+/g, ' ').trim();
  const tokens = tokensOf(line);
  const ranges = rangesOf(tokens, terms);
  const [first] = ranges;
  return first && marked(line, beginning(line, tokens, first.start), ranges, octets);
}

/** A little before the hit, where a word begins. */
function beginning(line: string, tokens: readonly Token[], hit: number): number {
  const from =
    Buffer.byteLength(line.slice(0, hit)) <= BEFORE ? 0 : hit - BEFORE / (line.charCodeAt(hit) < 256 ? 1 : 3);
  return from <= 0 ? 0 : (tokens.find(({ start }) => start >= from)?.start ?? hit);
}

/** Where terms stand, in order, what touches or overlaps as one. */
function rangesOf(tokens: readonly Token[], terms: readonly Term[]): Range[] {
  const all = terms
    .flatMap((term) => placesOf(term, tokens))
    .map(({ first, last }) => ({ start: first.start, end: last.end }))
    .sort((a, b) => a.start - b.start);
  const ranges: Range[] = [];
  for (const { start, end } of all) {
    const before = ranges.at(-1);
    if (before !== undefined && start <= before.end) before.end = Math.max(before.end, end);
    else ranges.push({ start, end });
  }
  return ranges;
}

/** Never cuts through a character, an escape or a mark. */
function marked(text: string, from: number, ranges: readonly Range[], octets: number): string {
  const left = ranges.filter(({ end }) => end > from);
  let out = '';
  let room = octets;
  let inside = false;
  let at = from;
  let next = 0;
  for (const character of text.slice(from)) {
    const begins: boolean = !inside && left[next]?.start === at;
    const shown = (begins ? OPEN : '') + escape(character);
    const size = Buffer.byteLength(shown);
    if (size + (inside || begins ? CLOSE.length : 0) > room) break;
    out += shown;
    room -= size;
    inside ||= begins;
    at += character.length;
    if (!inside || (left[next]?.end ?? 0) > at) continue;
    out += CLOSE;
    room -= CLOSE.length;
    inside = false;
    next += 1;
  }
  return inside ? out + CLOSE : out;
}

/** The text of which {@link highlight} or {@link highlightPart} made this. */
export function unmarked(html: string): string {
  const text = html.replaceAll(OPEN, '').replaceAll(CLOSE, '');
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function escape(character: string): string {
  return character === '&' ? '&amp;' : character === '<' ? '&lt;' : character === '>' ? '&gt;' : character;
}
