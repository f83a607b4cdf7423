/** A stream of a document, with its dictionary. ISO 32000-1 7.3.8. */
export interface PdfStream {
  /** The text of the dictionary before it. */
  about: string;
  data: Buffer;
}

const BEGIN = Buffer.from('stream');
const END = Buffer.from('endstream');
/** Octets before a stream that are searched for its dictionary. */
const DICTIONARY = 2048;
const LF = 10;
const CR = 13;

/** Streams of a document in file order, whatever its cross-reference table says. */
export function* pdfStreams(document: Buffer): Generator<PdfStream> {
  for (let at = document.indexOf(BEGIN); at >= 0; at = document.indexOf(BEGIN, at)) {
    let start = at + BEGIN.length;
    if (document[start] === CR) start += 1;
    if (document[start] === LF) start += 1;
    const found = document.indexOf(END, start);
    const end = found < 0 ? document.length : found;
    const before = document.toString('latin1', Math.max(0, at - DICTIONARY), at);
    const about = plainNames(before.slice(Math.max(0, before.lastIndexOf(' obj'))));
    yield { about, data: document.subarray(start, end) };
    at = end + END.length;
  }
}

/** Undoes #xx escapes in names. ISO 32000-1 7.3.5. */
function plainNames(dictionary: string): string {
  return dictionary.replace(/#([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Tests for a zlib header (RFC 1950 2.2), as the filter may be declared elsewhere. */
export function isDeflated([head = 0, flags = 0]: Uint8Array): boolean {
  return (head & 0x8f) === 8 && ((head << 8) | flags) % 31 === 0;
}

/** Octets of one ASCII-encoded stream that are decoded: the shared thread is blocked meanwhile. */
export const MAX_DIGITS = 2 * 1024 * 1024;

/** Decodes an ASCIIHex or ASCII85 stream, up to {@link MAX_DIGITS} of it. ISO 32000-1 7.4.2 and 7.4.3. */
export function pdfOctets({ about, data }: PdfStream): Buffer {
  const text = (): string => data.toString('latin1', 0, MAX_DIGITS).replace(/\s+/g, '');
  if (/\/ASCIIHexDecode|\/AHx\b/.test(about)) return Buffer.from(text().split('>', 1)[0] ?? '', 'hex');
  return /\/ASCII85Decode|\/A85\b/.test(about) ? base85(text().split('~', 1)[0] ?? '') : data;
}

function base85(digits: string): Buffer {
  const octets = Buffer.alloc(digits.length * 4);
  let at = 0;
  let group: number[] = [];
  for (let i = 0; i < digits.length; i++) {
    if (digits[i] === 'z') {
      at += 4;
      continue;
    }
    group.push(digits.charCodeAt(i) - 33);
    if (group.length < 5 && i < digits.length - 1) continue;
    const full = [...group, 84, 84, 84, 84].slice(0, 5);
    octets.writeUInt32BE((full.reduce((sum, digit) => sum * 85 + digit, 0) % 2 ** 32) >>> 0, at);
    at += group.length - 1;
    group = [];
  }
  return octets.subarray(0, at);
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Strings of a content stream, in order; those of one array are joined, as in `[(se) -20 (cret)] TJ`. ISO 32000-1 7.3.4. */
export function pdfStrings(drawing: string): string {
  let out = '';
  let inArray = false;
  for (let at = 0; at < drawing.length; at++) {
    const sign = drawing[at];
    if (sign === '[') inArray = true;
    else if (sign === ']') inArray = false;
    else if (sign === '(' || sign === '<') {
      const { text, end } = sign === '(' ? literal(drawing, at + 1) : hexadecimal(drawing, at + 1);
      out += inArray || out === '' ? text : `\n${text}`;
      at = end;
    }
  }
  return out;
}

function literal(drawing: string, from: number): { text: string; end: number } {
  let text = '';
  let depth = 1;
  let at = from;
  for (; at < drawing.length; at++) {
    const sign = drawing[at] ?? '';
    if (sign === '(') depth += 1;
    else if (sign === ')' && --depth === 0) break;
    if (sign !== '\\') {
      text += sign;
      continue;
    }
    const octal = /^[0-7]{1,3}/.exec(drawing.slice(at + 1, at + 4))?.[0];
    if (octal === undefined) text += ESCAPED[drawing[++at] ?? ''] ?? drawing[at] ?? '';
    else {
      text += String.fromCharCode(Number.parseInt(octal, 8));
      at += octal.length;
    }
  }
  return { text, end: at };
}

const HEXADECIMAL = /([0-9a-f\s]*)>/iy;

function hexadecimal(drawing: string, from: number): { text: string; end: number } {
  HEXADECIMAL.lastIndex = from;
  const digits = HEXADECIMAL.exec(drawing)?.[1];
  if (digits === undefined) return { text: '', end: from - 1 };
  const octets = Buffer.from(digits.replace(/\s+/g, ''), 'hex');
  return { text: octets.toString('latin1').replaceAll('\0', ''), end: from + digits.length };
}
