/** What a file is, as far as it decides how it is looked into; `packed`: nothing here opens it. */
export type FileKind = 'zip' | 'gzip' | 'tar' | 'pdf' | 'compound' | 'media' | 'packed' | 'text' | 'unknown';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** By how a file begins. */
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
/** Behind the length of its first box, as films and newer pictures have it. ISO/IEC 14496-12 4.3. */
const BOX = latin1('ftyp');
/** POSIX.1 ustar: at this place of the first header. */
const TAR = { mark: latin1('ustar'), at: 257 } as const;
/** Octets in which readers look for the mark of a PDF. */
const PDF_HEAD = 1024;
/** Octets that say whether the rest can be read. */
const HEAD = 8192;

/** The kind of a file by its octets, whatever its sender calls it. */
export function fileKind(octets: Buffer): FileKind {
  const marked = MARKS.find(([, mark]) => isAt(octets, mark, 0));
  if (marked !== undefined) return marked[0];
  if (isAt(octets, TAR.mark, TAR.at)) return 'tar';
  if (octets.subarray(0, PDF_HEAD).includes('%PDF-')) return 'pdf';
  if (isAt(octets, BOX, 4)) return 'media';
  return isReadable(octets.subarray(0, HEAD)) ? 'text' : 'unknown';
}

function isAt(octets: Buffer, mark: Buffer, at: number): boolean {
  return octets.subarray(at, at + mark.length).equals(mark);
}

const UTF16 = /^(?:\xff\xfe|\xfe\xff)/;

/** Hardly a control character: words, in whatever charset, or UTF-16 that says so. */
function isReadable(head: Buffer): boolean {
  const text = head.toString('latin1');
  if (UTF16.test(text)) return true;
  const controls = text.match(/[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]/g)?.length ?? 0;
  return controls * 200 <= text.length;
}
