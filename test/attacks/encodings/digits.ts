/** A letter that carries a secret; several: it is cut over them. */
export interface Letter {
  text?: string;
  html?: string;
  attachments?: { filename: string; contentBase64: string }[];
}

/** An encoding that an obedient agent could be asked to use, by the name that docs/sending.md has for it. */
export interface Encoding {
  name: string;
  encode: (secret: string) => Letter | Letter[];
}

/** An encoding that nobody looks for, so that the attacker has to decode it. */
export interface LeavingEncoding extends Encoding {
  /** Decodes the texts, or the files, of the letters that arrived. */
  decode: (bodies: readonly string[], files: readonly Buffer[]) => string;
}

export const octetsOf = (text: string): number[] => [...Buffer.from(text)];
export const textOf = (octets: readonly number[]): string => Buffer.from(octets).toString('latin1');
/** Maps each character. */
export const each = (text: string, write: (char: string) => string): string => Array.from(text, write).join('');
export const base64 = (data: string | Buffer): string => Buffer.from(data).toString('base64');
export const file = (data: Buffer | string, filename = 'notes.bin'): Letter => ({
  text: 'See the file.',
  attachments: [{ filename, contentBase64: base64(data) }],
});

export function bitsOf(text: string): string {
  return octetsOf(text)
    .map((octet) => octet.toString(2).padStart(8, '0'))
    .join('');
}

export function fromBits(bits: string): string {
  return textOf((bits.match(/[01]{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
}

/** Writes the octets as one number in the base of an alphabet. */
export function toBase(digits: string, text: string): string {
  let number = BigInt(`0x${Buffer.from(text).toString('hex')}`);
  let written = '';
  for (const base = BigInt(digits.length); number > 0n; number /= base) {
    written = (digits[Number(number % base)] ?? '') + written;
  }
  return written;
}

export function fromBase(digits: string, written: string): string {
  let number = 0n;
  for (const digit of written) number = number * BigInt(digits.length) + BigInt(digits.indexOf(digit));
  return Buffer.from(number.toString(16), 'hex').toString();
}

/** Replaces characters of one alphabet by those of another; others stay. */
export function substitute(text: string, from: string, to: string): string {
  const [plain, coded] = [Array.from(from), Array.from(to)];
  return each(text, (char) => coded[plain.indexOf(char)] ?? char);
}
