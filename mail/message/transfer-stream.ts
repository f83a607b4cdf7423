import { Base64Decoder } from './base64-decoder.ts';
import { decodeQuotedPrintable } from './decode.ts';

const LF = 10;
const EQUALS = 61;
/** Longer lines are split outside of escapes and blanks. */
const MAX_LINE = 64 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Decodes a Content-Transfer-Encoding as a stream, with the same result as {@link decodeTransfer}. An unknown encoding
 * passes unchanged. RFC 2045 6.
 */
export async function* decodeStream(pieces: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  const decoder = decoderOf(encoding.toLowerCase());
  if (decoder === undefined) return yield* pieces;
  for await (const piece of pieces) {
    const decoded = decoder.push(piece);
    if (decoded.length > 0) yield decoded;
  }
  const rest = decoder.end();
  if (rest.length > 0) yield rest;
}

interface StreamDecoder {
  push(piece: Buffer): Buffer;
  end(): Buffer;
}

function decoderOf(encoding: string): StreamDecoder | undefined {
  if (encoding === 'base64') return new Base64StreamDecoder();
  return encoding === 'quoted-printable' ? new QuotedPrintableDecoder() : undefined;
}

class Base64StreamDecoder implements StreamDecoder {
  readonly #runs = new Base64Decoder();

  push(piece: Buffer): Buffer {
    return this.#runs.push(piece);
  }

  end(): Buffer {
    return NOTHING;
  }
}

/** Decodes whole lines: escapes, soft line breaks and dropped blanks never span a line end. */
class QuotedPrintableDecoder implements StreamDecoder {
  #left: Buffer = NOTHING;

  push(piece: Buffer): Buffer {
    const bytes = this.#left.length === 0 ? piece : Buffer.concat([this.#left, piece]);
    const lines = bytes.lastIndexOf(LF) + 1;
    // Skips the part of a long line that was already searched, so that a line of "=" is not quadratic.
    const known = this.#left.length > MAX_LINE ? this.#left.length : 3;
    const cut = lines === 0 && bytes.length > MAX_LINE ? safeCut(bytes, known) : lines;
    this.#left = bytes.subarray(cut);
    return cut === 0 ? NOTHING : decodeQuotedPrintable(bytes.subarray(0, cut));
  }

  end(): Buffer {
    return decodeQuotedPrintable(this.#left);
  }
}

/** Finds an index after `from` to split at: no blank or line end before it, no "=" among the last three octets. 0: none. */
function safeCut(bytes: Buffer, from: number): number {
  for (let at = bytes.length; at > from; at--) {
    const last = bytes[at - 1] ?? 0;
    const plain = last > 32 && last !== EQUALS && bytes[at - 2] !== EQUALS && bytes[at - 3] !== EQUALS;
    if (plain) return at;
  }
  return 0;
}
