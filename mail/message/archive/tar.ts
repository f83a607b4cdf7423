const BLOCK = 512;
/** POSIX.1 pax, ustar: the fields of a header. */
const NAME = { at: 0, length: 100 } as const;
const SIZE = { at: 124, length: 12 } as const;

/** Lists the files of a tar archive; the last one may be truncated. */
export function* tarFiles(archive: Buffer): Generator<{ name: string; octets: Buffer }> {
  for (let at = 0; at + BLOCK <= archive.length;) {
    const size = sizeAt(archive, at);
    if (size === undefined) return;
    const start = at + BLOCK;
    yield { name: textAt(archive, at, NAME), octets: archive.subarray(start, start + size) };
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}

/** Reads the octal size of the file; undefined at the end of the archive. */
function sizeAt(archive: Buffer, at: number): number | undefined {
  const digits = textAt(archive, at, SIZE).trim();
  return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : undefined;
}

function textAt(archive: Buffer, at: number, { at: offset, length }: { at: number; length: number }): string {
  const text = archive.toString('latin1', at + offset, at + offset + length);
  const end = text.indexOf('\0');
  return end < 0 ? text : text.slice(0, end);
}
