import type { Cursor } from './cursor.ts';

const ID = {
  end: 0x00,
  pack: 0x06,
  unpack: 0x07,
  sub: 0x08,
  size: 0x09,
  crc: 0x0a,
  folder: 0x0b,
  sizes: 0x0c,
  counts: 0x0d,
};
/** AES-256 with a key from a password. */
const AES = '06f10701';

/** How the octets of a 7z archive are put together, as far as it matters to who only wants to get past it. */
export interface SevenStreams {
  /** Something in it cannot be read without a password. */
  locked: boolean;
}

/** A number of a 7z file: the first octet says by its leading bits how many follow. Exact up to 2^53. */
export function sevenNumber(cursor: Cursor): number {
  const first = cursor.byte();
  let value = 0;
  for (let more = 0, mask = 0x80; more < 8; more++, mask >>= 1) {
    if ((first & mask) === 0) return value + (first & (mask - 1)) * 256 ** more;
    value += cursor.byte() * 256 ** more;
  }
  return value;
}

/** Reads over the description of streams, up to its end. Throws a `RangeError` where it ends too early, or makes no sense. */
export function skipStreams(cursor: Cursor): SevenStreams {
  let folders: Folder[] = [];
  for (const id of toldOf(cursor)) {
    if (id === ID.pack) skipPacked(cursor);
    else if (id === ID.unpack) folders = readUnpacked(cursor);
    else if (id === ID.sub) skipSubStreams(cursor, folders);
    else throw new RangeError('no description of streams');
  }
  return { locked: folders.some(({ locked }) => locked) };
}

/** What a description tells of, each once: told again and again, a folder without files costs no octet each time. */
function* toldOf(cursor: Cursor): Generator<number> {
  const told = new Set<number>();
  for (let id = cursor.byte(); id !== ID.end; id = cursor.byte()) {
    if (told.has(id)) throw new RangeError('told twice');
    told.add(id);
    yield id;
  }
}

interface Folder {
  locked: boolean;
  outputs: number;
  hasCrc: boolean;
}

function skipPacked(cursor: Cursor): void {
  sevenNumber(cursor);
  const streams = sevenNumber(cursor);
  for (const id of toldOf(cursor)) {
    if (id === ID.size) times(streams, () => sevenNumber(cursor));
    else if (id === ID.crc) readDigests(cursor, streams);
    else throw new RangeError('no description of packed streams');
  }
}

function readUnpacked(cursor: Cursor): Folder[] {
  if (cursor.byte() !== ID.folder) throw new RangeError('no folders');
  const count = sevenNumber(cursor);
  if (cursor.byte() !== 0) throw new RangeError('folders that stand elsewhere');
  const folders: Folder[] = [];
  times(count, () => folders.push(readFolder(cursor)));
  for (const id of toldOf(cursor)) {
    if (id === ID.sizes) for (const { outputs } of folders) times(outputs, () => sevenNumber(cursor));
    else if (id === ID.crc) markKnown(folders, readDigests(cursor, count));
    else throw new RangeError('no description of folders');
  }
  return folders;
}

function markKnown(folders: readonly Folder[], known: readonly boolean[]): void {
  for (const [i, folder] of folders.entries()) folder.hasCrc = known[i] === true;
}

function readFolder(cursor: Cursor): Folder {
  const folder = { locked: false, outputs: 0, hasCrc: false };
  let inputs = 0;
  times(sevenNumber(cursor), () => {
    const flags = cursor.byte();
    folder.locked ||= cursor.take(flags & 15).toString('hex') === AES;
    const isComplex = (flags & 0x10) !== 0;
    inputs += isComplex ? sevenNumber(cursor) : 1;
    folder.outputs += isComplex ? sevenNumber(cursor) : 1;
    if ((flags & 0x20) !== 0) cursor.take(sevenNumber(cursor));
  });
  const pairs = folder.outputs - 1;
  times(2 * pairs, () => sevenNumber(cursor));
  if (inputs - pairs > 1) times(inputs - pairs, () => sevenNumber(cursor));
  return folder;
}

function skipSubStreams(cursor: Cursor, folders: readonly Folder[]): void {
  let counts = folders.map(() => 1);
  for (const id of toldOf(cursor)) {
    if (id === ID.counts) counts = folders.map(() => sevenNumber(cursor));
    else if (id === ID.size) for (const count of counts) times(count - 1, () => sevenNumber(cursor));
    else if (id === ID.crc) readDigests(cursor, unknown(folders, counts));
    else throw new RangeError('no description of files in folders');
  }
}

/** Of a folder with one file the checksum is that of the folder. */
function unknown(folders: readonly Folder[], counts: readonly number[]): number {
  return counts.reduce((sum, count, i) => sum + (count === 1 && folders[i]?.hasCrc === true ? 0 : count), 0);
}

/** Which of so many have a checksum, and reads over these. */
function readDigests(cursor: Cursor, count: number): boolean[] {
  const all = cursor.byte() !== 0;
  const bits = all ? undefined : cursor.take(Math.ceil(count / 8));
  const known: boolean[] = [];
  times(count, (i) => {
    const has = bits === undefined || ((bits[i >> 3] ?? 0) & (0x80 >> (i & 7))) !== 0;
    known.push(has);
    if (has) cursor.take(4);
  });
  return known;
}

/** Each time octets are read, so a number that lies ends where these do. */
function times(count: number, each: (i: number) => unknown): void {
  for (let i = 0; i < count; i++) each(i);
}
