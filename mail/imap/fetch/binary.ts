import { decodeStream } from '../../message/transfer-stream.ts';

/** A body part with its transfer encoding: a range of trace and blob joined. */
export interface EncodedPart {
  start: number;
  length: number;
  /** Content-Transfer-Encoding in lower case. */
  encoding: string;
  /** Octets without the encoding, as counted when the message was indexed; undefined: only estimated. */
  decodedLength: number | undefined;
}

const IDENTITY: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary', '']);
const DECODED: ReadonlySet<string> = new Set(['base64', 'quoted-printable']);

/** Encoded octets up to which a part is decoded in memory, so that its length is counted and not taken from the index. */
export const MAX_DECODED_AT_ONCE = 1024 * 1024;

/** Octets of padding in memory at once. */
const MAX_PADDING = 64 * 1024;

/** True when a part needs no decoding. RFC 2045 6.2. */
export function isIdentity(encoding: string): boolean {
  return IDENTITY.has(encoding);
}

/** True when the encoding of a part can be removed; otherwise FETCH answers NO [UNKNOWN-CTE]. RFC 3516 4.3. */
export function isDecodable(encoding: string): boolean {
  return IDENTITY.has(encoding) || DECODED.has(encoding);
}

/** Decodes a part from octets in memory. */
export async function decodeWhole(octets: Buffer, encoding: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of decodeStream(one(octets), encoding)) pieces.push(piece);
  return pieces.length === 1 ? (pieces[0] ?? octets) : Buffer.concat(pieces);
}

async function* one(octets: Buffer): AsyncGenerator<Buffer> {
  yield octets;
}

/** Counts the octets of a decoded part. */
export async function countDecoded(pieces: AsyncIterable<Buffer>, encoding: string): Promise<number> {
  let count = 0;
  for await (const piece of decodeStream(pieces, encoding)) count += piece.length;
  return count;
}

/**
 * Yields the octets `offset` to `offset + length` of a decoded part, and spaces where the part is shorter, so that a
 * literal has its announced length.
 */
export async function* decodedRange(
  pieces: AsyncIterable<Buffer>,
  encoding: string,
  { offset, length }: { offset: number; length: number },
): AsyncGenerator<Buffer> {
  let at = 0;
  let left = length;
  for await (const piece of decodeStream(pieces, encoding)) {
    const shown = piece.subarray(Math.max(0, offset - at), Math.max(0, offset - at) + left);
    at += piece.length;
    left -= shown.length;
    if (shown.length > 0) yield shown;
    if (left === 0) return;
  }
  const blank = Buffer.alloc(Math.min(left, MAX_PADDING), ' ');
  for (; left > 0; left -= MAX_PADDING) yield blank.subarray(0, left);
}
