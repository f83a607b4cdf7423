import { Cursor } from './cursor.ts';
import { rarFileName } from './rar-name.ts';

/** One block of a RAR file, as its header tells it. */
export interface RarBlock {
  /** Octets of the header, and of the data behind it. */
  header: number;
  data: number;
  /** Of a file in it; in old archives a name may be told in two ways. */
  names: readonly string[];
  /** It cannot be read without a password. */
  locked: boolean;
  /** Behind it nothing more can be told. */
  last: boolean;
}

/** Octets of a header; longer ones are nobody's work. */
export const MOST_HEADER = 64 * 1024;

/** A header of RAR 1.5 to 4; undefined where more of it is to come. Throws where it is none. */
export function oldBlock(octets: Buffer): RarBlock | undefined {
  if (octets.length < 7) return undefined;
  const cursor = new Cursor(octets, 2);
  const type = cursor.byte();
  const flags = cursor.uint16();
  const header = cursor.uint16();
  if (header < 7) throw new RangeError('no header of RAR');
  if (octets.length < header) return undefined;
  const own = new Cursor(octets.subarray(0, header), 7);
  const has = (flag: number): boolean => (flags & flag) !== 0;
  if (type === OLD.main && has(0x80)) return { header, data: 0, names: [], locked: true, last: true };
  if (type !== OLD.file) {
    const data = has(0x8000) ? own.uint32() : 0;
    return { header, data, names: [], locked: false, last: type === OLD.end };
  }
  const low = own.uint32();
  own.take(15);
  const length = own.uint16();
  own.take(4);
  const high = has(0x100) ? own.uint32() : 0;
  if (has(0x100)) own.uint32();
  const names = rarFileName(own.take(length), has(0x200));
  return { header, data: low + high * 2 ** 32, names, locked: has(0x04), last: false };
}

const OLD = { main: 0x73, file: 0x74, end: 0x7b };

/** A header of RAR 5; undefined where more of it is to come. Throws where it is none. */
export function newBlock(octets: Buffer): RarBlock | undefined {
  const size = Cursor.reading(octets, (cursor) => (cursor.take(4), { length: varint(cursor), at: cursor.at }));
  if (size === undefined && octets.length < LONGEST_SIZE) return undefined;
  if (size === undefined || size.length === 0) throw new RangeError('no header of RAR');
  const header = size.at + size.length;
  if (octets.length < header) return header > MOST_HEADER ? unreadable() : undefined;
  const own = new Cursor(octets.subarray(0, header), size.at);
  const type = varint(own);
  const flags = varint(own);
  const extra = (flags & 1) === 0 ? 0 : varint(own);
  const data = (flags & 2) === 0 ? 0 : varint(own);
  if (type === NEW.encryption) return { header, data, names: [], locked: true, last: true };
  if (type !== NEW.file) return { header, data, names: [], locked: false, last: type === NEW.end };
  const name = newName(own);
  return { header, data, names: [name], locked: hasPassword(octets.subarray(header - extra, header)), last: false };
}

const NEW = { file: 2, encryption: 4, end: 5 };
/** The checksum, and a number of ten octets. */
const LONGEST_SIZE = 14;

function unreadable(): never {
  throw new RangeError('a header of RAR that is too long');
}

function newName(own: Cursor): string {
  const flags = varint(own);
  varint(own);
  varint(own);
  if ((flags & 2) !== 0) own.uint32();
  if ((flags & 4) !== 0) own.uint32();
  varint(own);
  varint(own);
  // The last characters are those that tell what it is.
  return own.take(varint(own)).subarray(-LONGEST_NAME).toString('utf8');
}

const LONGEST_NAME = 1024;

/** Whether the first of the records behind a header says how the file is encrypted, or one after it. */
function hasPassword(extra: Buffer): boolean {
  const found = Cursor.reading(extra, (cursor) => {
    while (cursor.at < extra.length) {
      const record = cursor.take(varint(cursor));
      if (varint(new Cursor(record)) === 1) return true;
    }
    return false;
  });
  return found === true;
}

/** Seven bits an octet, the lowest first. */
function varint(cursor: Cursor): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const octet = cursor.byte();
    value += (octet & 127) * scale;
    if (octet < 128) return value;
    if (scale > 2 ** 56) throw new RangeError('no number of RAR');
  }
}
