import { findTerms, type SearchTerm } from './search-terms.ts';
import { type WordToken, tokensOf } from './word-tokens.ts';

/** Approximate octets before the first hit in an excerpt. */
const OCTETS_BEFORE_HIT = 60;
const OPEN = '<mark>';
const CLOSE = '</mark>';

interface HighlightRange {
  start: number;
  end: number;
}

/** Returns the text as HTML with hits in `<mark>`; undefined without hits. RFC 8621 5. */
export function highlight(text: string, terms: readonly SearchTerm[]): string | undefined {
  const ranges = rangesOf(tokensOf(text), terms);
  return ranges.length === 0 ? undefined : markRanges(text, 0, ranges, Number.POSITIVE_INFINITY);
}

/** Returns an excerpt around the first hit, at most `octets` of UTF-8. */
export function highlightPart(text: string, terms: readonly SearchTerm[], octets: number): string | undefined {
  const line = text.replace(/\s+/g, ' ').trim();
  const tokens = tokensOf(line);
  const ranges = rangesOf(tokens, terms, octets);
  const [first] = ranges;
  return first && markRanges(line, excerptStart(line, tokens, first.start), ranges, octets);
}

/** Finds a word start shortly before the hit. */
function excerptStart(line: string, tokens: readonly WordToken[], hit: number): number {
  const from =
    Buffer.byteLength(line.slice(0, hit)) <= OCTETS_BEFORE_HIT
      ? 0
      : hit - OCTETS_BEFORE_HIT / (line.charCodeAt(hit) < 256 ? 1 : 3);
  return from <= 0 ? 0 : (tokens.find(({ start }) => start >= from)?.start ?? hit);
}

/** Lists the ranges of hits in order, to at most `length` characters after the first; adjacent and overlapping ones are merged. */
function rangesOf(
  tokens: readonly WordToken[],
  terms: readonly SearchTerm[],
  length = Number.POSITIVE_INFINITY,
): HighlightRange[] {
  const ranges: HighlightRange[] = [];
  for (const { first, last } of findTerms(terms, tokens)) {
    if (ranges[0] !== undefined && first.start > ranges[0].start + length) break;
    const before = ranges.at(-1);
    if (before !== undefined && first.start <= before.end) before.end = Math.max(before.end, last.end);
    else ranges.push({ start: first.start, end: last.end });
  }
  return ranges;
}

/** Marks the ranges; never cuts a character, an escape or a mark. */
function markRanges(text: string, from: number, ranges: readonly HighlightRange[], octets: number): string {
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

/** Reverts {@link highlight} and {@link highlightPart} to plain text. */
export function withoutHighlights(html: string): string {
  const text = html.replaceAll(OPEN, '').replaceAll(CLOSE, '');
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function escape(character: string): string {
  return character === '&' ? '&amp;' : character === '<' ? '&lt;' : character === '>' ? '&gt;' : character;
}
