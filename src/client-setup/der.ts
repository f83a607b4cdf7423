/** An element of ASN.1 in DER. X.690 8.1. */
export interface DerElement {
  tag: number;
  /** With tag and length. */
  raw: Buffer;
  content: Buffer;
}

/** Encodes an element. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
/** SET OF: elements are in the order of their encodings. X.690 11.6. */
export const setOf = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts.toSorted((a, b) => a.compare(b)));
export const octetString = (value: Uint8Array): Buffer => der(0x04, value);
/** An INTEGER below 128. */
export const smallInteger = (value: number): Buffer => der(0x02, Buffer.of(value));
export const NULL = der(0x05);

/** OBJECT IDENTIFIER of its dotted form. X.690 8.19. */
export function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** UTCTime, which has two digits of the year. X.690 11.8. */
export function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

/** Reads the elements within a constructed one. Throws if they are damaged. */
export function elementsIn(content: Buffer): DerElement[] {
  const found: DerElement[] = [];
  for (let at = 0; at < content.length;) {
    const [tag = 0, first = 0] = content.subarray(at, at + 2);
    const octets = first < 0x80 ? 0 : first & 0x7f;
    if (octets > 4) throw new RangeError('an element is too long');
    const length = octets === 0 ? first : content.readUIntBE(at + 2, octets);
    const start = at + 2 + octets;
    if (start + length > content.length) throw new RangeError('an element ends outside the one around it');
    found.push({ tag, raw: content.subarray(at, start + length), content: content.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const hex = length.toString(16);
  const octets = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.of(0x80 | octets.length), octets]);
}

function base128(value: number): number[] {
  const octets = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) octets.unshift((rest & 0x7f) | 0x80);
  return octets;
}
