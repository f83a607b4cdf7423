/** A file in an archive, as the directory at its end names it. */
interface ZipEntry {
  name: string;
  /** It needs a password. */
  locked: boolean;
}

const MOST_ENTRIES = 200;
const LONGEST_NAME = 255;
const END_SIGNATURE = Buffer.from('PK\x05\x06', 'latin1');
const ENTRY_SIGNATURE = Buffer.from('PK\x01\x02', 'latin1');
const END_SIZE = 22;
const ENTRY_SIZE = 46;

/**
 * The entries of a zip file whose last octets these are; undefined when they are not the end of one. Only the directory
 * is read: nothing is unpacked, so nothing can grow. APPNOTE 4.3.12 and 4.3.16.
 */
export function zipDirectory(tail: Buffer): ZipEntry[] | undefined {
  const end = tail.lastIndexOf(END_SIGNATURE);
  if (end < 0 || end + END_SIZE > tail.length) return undefined;
  // Offsets count from where the archive begins, which need not be where the file does: the size is what can be trusted.
  const sized = end - tail.readUInt32LE(end + 12);
  const start = sized >= 0 && tail.indexOf(ENTRY_SIGNATURE, sized) === sized ? sized : tail.indexOf(ENTRY_SIGNATURE);
  const entries: ZipEntry[] = [];
  for (let at = start; at >= 0 && at + ENTRY_SIZE <= end && entries.length < MOST_ENTRIES;) {
    if (tail.compare(ENTRY_SIGNATURE, 0, 4, at, at + 4) !== 0) break;
    const name = tail.readUInt16LE(at + 28);
    const nameEnd = Math.min(at + ENTRY_SIZE + name, end);
    entries.push({
      // The last characters are those that tell what it is.
      name: tail.toString('utf8', Math.max(at + ENTRY_SIZE, nameEnd - LONGEST_NAME), nameEnd),
      locked: (tail.readUInt16LE(at + 8) & 1) === 1,
    });
    at += ENTRY_SIZE + name + tail.readUInt16LE(at + 30) + tail.readUInt16LE(at + 32);
  }
  return entries;
}
