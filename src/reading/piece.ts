import { sizeOf } from '../untrusted/room.ts';
import { FENCE } from '../untrusted/untrusted.ts';
import type { Link } from './link-book.ts';

/** How much of a text there is room for. */
export interface Room {
  /** Characters of the text. */
  chars: number;
  /** Characters of JSON, with the fence of each line and with the links. */
  wire: number;
}

/** A part of a text, with the links whose handles stand in it. */
export interface Piece {
  text: string;
  /** Where the next one begins. */
  end: number;
  links: Link[];
  /** Characters of JSON. */
  wire: number;
}

/** A handle as a text has it; nothing that comes in can have its form. */
const HANDLE = /\[link:(\d{1,3})(?: \S{1,120}?)?\]{1,2}/g;
/** No handle is longer. */
const LONGEST_HANDLE = 140;

interface Handle {
  from: number;
  to: number;
  number: number;
}

/**
 * The piece of a text from a place on. Lines, signs that JSON doubles, and links count, so that nobody who writes a message
 * decides how long an answer is; at least a character is given, so that every piece goes on.
 */
export function pieceOf(text: string, from: number, { chars, wire }: Room, links: readonly Link[] = []): Piece {
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

/** Those of which something stands between two places. */
function handlesIn(text: string, from: number, to: number): Handle[] {
  const start = Math.max(0, from - LONGEST_HANDLE);
  const around = text.slice(start, to + LONGEST_HANDLE);
  return [...around.matchAll(HANDLE)]
    .map((match) => ({
      from: start + match.index,
      to: start + match.index + match[0].length,
      number: Number(match[1]),
    }))
    .filter((one) => one.to > from && one.from < to);
}

/** No handle is cut, and no character of two units. */
function wholeEnd(text: string, from: number, end: number, handles: readonly Handle[]): number {
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
