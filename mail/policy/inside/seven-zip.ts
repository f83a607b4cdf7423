import type { Inside } from '../sample.ts';
import { Cursor } from './cursor.ts';
import { sevenNumber, skipStreams } from './seven-streams.ts';

const MARK = Buffer.from('377abcaf271c', 'hex');
const MOST_NAMES = 200;
const LONGEST_NAME = 255;
const CLOSED: Inside = { names: [], locked: false, macros: false, closed: true };
const LOCKED: Inside = { names: [], locked: true, macros: false };

/** Octets at the beginning of a 7z file that tell where its directory is. */
export const SEVEN_HEAD = 32;

export function isSevenZip(head: Buffer): boolean {
  return head.subarray(0, MARK.length).equals(MARK);
}

/**
 * The directory of a 7z file, which stands at its end: `tail` are its last octets, of `length`. Most are packed, and nothing
 * is unpacked here: `closed`. Undefined where there is none.
 */
export function sevenZipDirectory(head: Buffer, tail: Buffer, length: number): Inside | undefined {
  const place = Cursor.reading(head, (cursor) => {
    cursor.take(12);
    return { at: SEVEN_HEAD + cursor.uint64(), size: cursor.uint64() };
  });
  if (place === undefined || place.at + place.size > length) return undefined;
  if (place.size === 0) return { names: [], locked: false, macros: false };
  const start = place.at - (length - tail.length);
  if (start < 0) return CLOSED;
  return Cursor.reading(tail.subarray(start, start + place.size), directory);
}

const PART = { end: 0x00, header: 0x01, properties: 0x02, additional: 0x03, main: 0x04, files: 0x05, packed: 0x17 };
const NAMES = 0x11;

function directory(cursor: Cursor): Inside | undefined {
  const kind = cursor.byte();
  if (kind === PART.packed) return skipStreams(cursor).locked ? LOCKED : CLOSED;
  if (kind !== PART.header) return undefined;
  let locked = false;
  for (let part = cursor.byte(); part !== PART.end; part = cursor.byte()) {
    if (part === PART.properties) skipProperties(cursor);
    else if (part === PART.additional || part === PART.main) locked = skipStreams(cursor).locked || locked;
    else if (part === PART.files) return { names: namesIn(cursor), locked, macros: false };
    else return undefined;
  }
  return { names: [], locked, macros: false };
}

function skipProperties(cursor: Cursor): void {
  while (cursor.byte() !== 0) cursor.take(sevenNumber(cursor));
}

function namesIn(cursor: Cursor): string[] {
  sevenNumber(cursor);
  for (let property = cursor.byte(); property !== 0; property = cursor.byte()) {
    const value = cursor.take(sevenNumber(cursor));
    // Behind one octet that says that they stand here.
    if (property === NAMES && value[0] === 0) return splitNames(value.subarray(1));
  }
  return [];
}

function splitNames(octets: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at + 1 < octets.length && names.length < MOST_NAMES;) {
    let end = at;
    while (end + 1 < octets.length && octets.readUInt16LE(end) !== 0) end += 2;
    // The last characters are those that tell what it is.
    names.push(octets.toString('utf16le', Math.max(at, end - 2 * LONGEST_NAME), end));
    at = end + 2;
  }
  return names;
}
