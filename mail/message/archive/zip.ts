const LOCAL = Buffer.from('PK\x03\x04', 'latin1');
const LOCAL_SIZE = 30;
const ENTRY = Buffer.from('PK\x01\x02', 'latin1');
const ENTRY_SIZE = 46;
const END = Buffer.from('PK\x05\x06', 'latin1');
const END_SIZE = 22;
const ENCRYPTED = 1;
const MAX_ENTRIES = 200;
const MAX_NAME_CHARS = 255;

/** A file in a zip archive by its own local header. APPNOTE 4.3.7. */
export interface ZipFile {
  name: string;
  /** It needs a password. */
  locked: boolean;
  /** APPNOTE 4.4.5: 0 is stored, 8 deflate. */
  method: number;
  /** Offset of its octets in the archive. */
  start: number;
  /** Offset of the end of a stored file; the end of a packed one is known when it is inflated. */
  end: number;
}

/**
 * Finds the next file from an offset on by its local header. The directory at the end is ignored: a sender may leave files
 * out of it, and sizes in headers may lie.
 */
export function nextZipFile(archive: Buffer, from: number): ZipFile | undefined {
  const at = archive.indexOf(LOCAL, from);
  if (at < 0 || at + LOCAL_SIZE > archive.length) return undefined;
  const method = archive.readUInt16LE(at + 8);
  const nameLength = archive.readUInt16LE(at + 26);
  const start = at + LOCAL_SIZE + nameLength + archive.readUInt16LE(at + 28);
  return {
    name: archive.toString('utf8', at + LOCAL_SIZE, at + LOCAL_SIZE + Math.min(nameLength, 1024)),
    locked: (archive.readUInt16LE(at + 6) & ENCRYPTED) === ENCRYPTED,
    method,
    start,
    end: method === 0 ? storedEnd(archive, start, archive.readUInt32LE(at + 18)) : start,
  };
}

/** Takes the size that the header has; without one, the next signature ends the file. */
function storedEnd(archive: Buffer, start: number, size: number): number {
  if (size > 0 && size < 0xffffffff) return Math.min(start + size, archive.length);
  for (let at = archive.indexOf('PK', start); at >= 0; at = archive.indexOf('PK', at + 2)) {
    if (/[\x01\x03\x05\x07]/.test(String.fromCharCode(archive[at + 2] ?? 0))) return at;
  }
  return archive.length;
}

/**
 * Lists the first 200 entries of the directory at the end of a zip archive; undefined when `tail` is not the end of one.
 * Nothing is unpacked, so nothing can grow. APPNOTE 4.3.12 and 4.3.16.
 */
export function zipDirectory(tail: Buffer): Pick<ZipFile, 'name' | 'locked'>[] | undefined {
  const end = tail.lastIndexOf(END);
  if (end < 0 || end + END_SIZE > tail.length) return undefined;
  // Offsets count from the start of the archive, which may differ from that of the file: only the size is reliable.
  const sized = end - tail.readUInt32LE(end + 12);
  const start = sized >= 0 && tail.indexOf(ENTRY, sized) === sized ? sized : tail.indexOf(ENTRY);
  const entries: Pick<ZipFile, 'name' | 'locked'>[] = [];
  for (let at = start; at >= 0 && at + ENTRY_SIZE <= end && entries.length < MAX_ENTRIES;) {
    if (tail.compare(ENTRY, 0, 4, at, at + 4) !== 0) break;
    const name = tail.readUInt16LE(at + 28);
    const nameEnd = Math.min(at + ENTRY_SIZE + name, end);
    entries.push({
      // Keeps the end of a long name, which has the extension.
      name: tail.toString('utf8', Math.max(at + ENTRY_SIZE, nameEnd - MAX_NAME_CHARS), nameEnd),
      locked: (tail.readUInt16LE(at + 8) & ENCRYPTED) === ENCRYPTED,
    });
    at += ENTRY_SIZE + name + tail.readUInt16LE(at + 30) + tail.readUInt16LE(at + 32);
  }
  return entries;
}
