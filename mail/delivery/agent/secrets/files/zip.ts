/** APPNOTE 4.3.7: a local header, and the fields of it that are read. */
const LOCAL = Buffer.from('PK\x03\x04', 'latin1');
const LOCAL_SIZE = 30;
const ENCRYPTED = 1;

/** A file in a zip archive as its own header has it. */
export interface ZipFile {
  name: string;
  /** It has a password. */
  locked: boolean;
  /** APPNOTE 4.4.5: 0 is stored, 8 deflate. */
  method: number;
  /** Where its octets begin, in the archive. */
  start: number;
  /** Of a stored one where they end; of another one its own end says it. */
  end: number;
}

/**
 * The next file from a place on; undefined: there is none. Its own header says all, and not the directory at the end, which
 * leaves out what its writer wants to leave out.
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

/** Where it says, or where the next thing of the archive begins when it says nothing. */
function storedEnd(archive: Buffer, start: number, size: number): number {
  if (size > 0 && size < 0xffffffff) return Math.min(start + size, archive.length);
  for (let at = archive.indexOf('PK', start); at >= 0; at = archive.indexOf('PK', at + 2)) {
    if (/[\x01\x03\x05\x07]/.test(String.fromCharCode(archive[at + 2] ?? 0))) return at;
  }
  return archive.length;
}
