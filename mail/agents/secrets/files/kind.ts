/** Kind of a file, as far as it decides how to scan it; `packed`: no decoder here. */
export type FileKind = 'zip' | 'gzip' | 'zlib' | 'tar' | 'pdf' | 'compound' | 'media' | 'packed' | 'text' | 'unknown';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Magic numbers. */
const MARKS: readonly (readonly [FileKind, Buffer])[] = [
  ['zip', latin1('PK\x03\x04')],
  ['zip', latin1('PK\x05\x06')],
  ['gzip', latin1('\x1f\x8b\x08')],
  ['compound', latin1('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')],
  ['packed', latin1("7z\xbc\xaf'\x1c")],
  ['packed', latin1('Rar!\x1a\x07')],
  ['packed', latin1('BZh')],
  ['packed', latin1('\xfd7zXZ\0')],
  ['packed', latin1('\x28\xb5\x2f\xfd')],
  ['packed', latin1('\x04\x22\x4d\x18')],
  ['packed', latin1('MSCF')],
  ['packed', latin1('-----BEGIN PGP MESSAGE')],
  ['packed', latin1('age-encryption.org/')],
  ['packed', latin1('Salted__')],
  ['media', latin1('\x89PNG\r\n\x1a\n')],
  ['media', latin1('\xff\xd8\xff')],
  ['media', latin1('GIF8')],
  ['media', latin1('RIFF')],
  ['media', latin1('OggS')],
  ['media', latin1('fLaC')],
  ['media', latin1('ID3')],
  ['media', latin1('II*\0')],
  ['media', latin1('MM\0*')],
];
/** Follows the length of the first box in films and newer images. ISO/IEC 14496-12 4.3. */
const BOX = latin1('ftyp');
/** POSIX.1 ustar: offset in the first header. */
const TAR = { mark: latin1('ustar'), at: 257 } as const;
/** Octets in which readers search for the PDF mark. */
const PDF_HEAD = 1024;
/** Octets that decide if the file is text. */
const HEAD = 8192;

/** Detects the kind of a file by its octets, whatever the sender declares. */
export function fileKind(octets: Buffer): FileKind {
  for (const [kind, mark] of MARKS) if (isAt(octets, mark, 0)) return kind;
  if (isAt(octets, TAR.mark, TAR.at)) return 'tar';
  if (octets.subarray(0, PDF_HEAD).includes('%PDF-')) return 'pdf';
  if (isAt(octets, BOX, 4)) return 'media';
  if (isReadable(octets.subarray(0, HEAD))) return 'text';
  // RFC 1950 2.2: deflate, and a check of the first two octets.
  const [method = 0, flags] = octets;
  return method === 0x78 && flags !== undefined && (method * 256 + flags) % 31 === 0 ? 'zlib' : 'unknown';
}

function isAt(octets: Buffer, mark: Buffer, at: number): boolean {
  return octets.subarray(at, at + mark.length).equals(mark);
}

const UTF16 = /^(?:\xff\xfe|\xfe\xff)/;

/** Tests for few control characters: text in any charset, or UTF-16 with a byte order mark. */
function isReadable(head: Buffer): boolean {
  const text = head.toString('latin1');
  if (UTF16.test(text)) return true;
  const controls = text.match(/[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/g)?.length ?? 0;
  return controls * 200 <= text.length;
}
