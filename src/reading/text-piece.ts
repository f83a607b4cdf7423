import { sizeOf } from '../untrusted/result-budget.ts';
import { FENCE } from '../untrusted/untrusted.ts';
import type { Link } from '../core/text-tasks.ts';

/** Size budget of a text. */
export interface PieceBudget {
  /** Characters of the text. */
  chars: number;
  /** Characters of JSON, including line fences and links. */
  wire: number;
}

/** A piece of a text with the links whose handles it contains. */
export interface TextPiece {
  text: string;
  /** Start of the next piece. */
  end: number;
  links: Link[];
  /** Characters of JSON. */
  wire: number;
}

/** Handle in a sanitized text; inbound text of this form is altered. */
const HANDLE = /\[link:(\d{1,3})(?: \S{1,120}?)?\]{1,2}/g;
/** Characters of a handle. */
const MAX_HANDLE_CHARS = 140;

interface HandlePosition {
  from: number;
  to: number;
  number: number;
}

/**
 * Cuts a piece of a text from an offset. Line fences, JSON escapes and links count, so that a sender cannot inflate the
 * response. Returns at least one character, so that paging always advances.
 */
export function cutPiece(
  text: string,
  from: number,
  { chars, wire }: PieceBudget,
  links: readonly Link[] = [],
): TextPiece {
  const last = Math.min(text.length, from + chars);
  const handles = handlesIn(text, from, last);
  const counted = new Set<number>();
  let [used, end, next] = [0, from, 0];
  for (; end < last; end++) {
    const handle = handles[next];
    const begins = handle !== undefined && handle.from <= end;
    const isNew = begins && !counted.has(handle.number);
    const cost = costOf(text.charCodeAt(end)) + (isNew ? linkCost(links[handle.number - 1]) : 0);
    if (used + cost > wire && end > from) break;
    used += cost;
    if (begins) {
      counted.add(handle.number);
      next++;
    }
  }
  end = wholeEnd(text, from, end, handles);
  const numbers = new Set(handles.filter((one) => one.from < end).map(({ number }) => number));
  const found = links.filter((_, i) => numbers.has(i + 1));
  return { text: text.slice(from, end).toWellFormed(), end, links: found, wire: used };
}

function linkCost(link: Link | undefined): number {
  return link === undefined ? 0 : sizeOf(link) + 1;
}

/** Finds handles that overlap a range. */
function handlesIn(text: string, from: number, to: number): HandlePosition[] {
  const start = Math.max(0, from - MAX_HANDLE_CHARS);
  const around = text.slice(start, to + MAX_HANDLE_CHARS);
  return [...around.matchAll(HANDLE)]
    .map((match) => ({
      from: start + match.index,
      to: start + match.index + match[0].length,
      number: Number(match[1]),
    }))
    .filter((one) => one.to > from && one.from < to);
}

/** Moves the end so that no handle and no surrogate pair is cut. */
function wholeEnd(text: string, from: number, end: number, handles: readonly HandlePosition[]): number {
  const cut = handles.find((one) => one.from < end && end < one.to);
  if (cut !== undefined && cut.from > from) return cut.from;
  const inPair = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return inPair && end - 1 > from ? end - 1 : end;
}

/** Characters of JSON. */
function costOf(code: number): number {
  if (code === 0x0a) return 2 + FENCE;
  if (code === 0x22 || code === 0x5c || code === 0x09) return 2;
  return code < 0x20 ? 6 : 1;
}
