/** A stream of a document, and what its dictionary says. ISO 32000-1 7.3.8. */
export interface PdfStream {
  /** The text of the dictionary before it. */
  about: string;
  data: Buffer;
}

const BEGIN = Buffer.from('stream');
const END = Buffer.from('endstream');
/** Octets before a stream in which its dictionary is looked for. */
const DICTIONARY = 2048;
const LF = 10;
const CR = 13;

/** The streams of a document, one after the other, whatever its table of contents says. */
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

/** ISO 32000-1 7.3.5: any letter of a name may be written by its number. */
function plainNames(dictionary: string): string {
  return dictionary.replace(/#([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

/** Whether octets begin as what is deflated does, whatever is said of them: a dictionary may keep that elsewhere. RFC 1950 2.2. */
export function isDeflated([head = 0, flags = 0]: Uint8Array): boolean {
  return (head & 0x8f) === 8 && ((head << 8) | flags) % 31 === 0;
}

/** Octets of one stream in digits that are read: that is work on the thread that everybody shares, without a pause. */
export const MOST_DIGITS = 2 * 1024 * 1024;

/** Of a data stream of ASCII hexadecimal or base-85 the octets, up to {@link MOST_DIGITS} of it. ISO 32000-1 7.4.2 and 7.4.3. */
export function pdfOctets({ about, data }: PdfStream): Buffer {
  const text = (): string => data.toString('latin1', 0, MOST_DIGITS).replace(/\s+/g, '');
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

/** What strings of a drawing say, in order: those that are shown together in one, as `[(se) -20 (cret)] TJ` has them. ISO 32000-1 7.3.4. */
export function pdfStrings(drawing: string): string {
  let out = '';
  let together = false;
  for (let at = 0; at < drawing.length; at++) {
    const sign = drawing[at];
    if (sign === '[') together = true;
    else if (sign === ']') together = false;
    else if (sign === '(' || sign === '<') {
      const { text, end } = sign === '(' ? literal(drawing, at + 1) : hexadecimal(drawing, at + 1);
      out += together || out === '' ? text : `\n${text}`;
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
