import { Base64Runs } from './base64-runs.ts';
import { decodeQuotedPrintable } from './decode.ts';

const LF = 10;
const EQUALS = 61;
/** A line that is longer is cut where no escape and no run of blanks is. */
const LONGEST_LINE = 64 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Undoes a Content-Transfer-Encoding piece by piece: the octets are those of {@link decodeTransfer}, without the whole
 * ever lying in memory. What is not understood passes as it is. RFC 2045 6.
 */
export async function* decodeStream(pieces: AsyncIterable<Buffer>, encoding: string): AsyncIterable<Buffer> {
  const decoder = decoderOf(encoding.toLowerCase());
  for await (const piece of pieces) {
    const decoded = decoder.push(piece);
    if (decoded.length > 0) yield decoded;
  }
  const rest = decoder.end();
  if (rest.length > 0) yield rest;
}

interface Decoder {
  push(piece: Buffer): Buffer;
  end(): Buffer;
}

function decoderOf(encoding: string): Decoder {
  if (encoding === 'base64') return new Base64Decoder();
  if (encoding === 'quoted-printable') return new QuotedPrintableDecoder();
  return { push: (piece) => piece, end: () => NOTHING };
}

class Base64Decoder implements Decoder {
  readonly #runs = new Base64Runs();

  push(piece: Buffer): Buffer {
    return this.#runs.push(piece);
  }

  end(): Buffer {
    return NOTHING;
  }
}

/** Whole lines at a time: escapes, soft line ends and dropped blanks never reach over a line end. */
class QuotedPrintableDecoder implements Decoder {
  #left: Buffer = NOTHING;

  push(piece: Buffer): Buffer {
    const bytes = this.#left.length === 0 ? piece : Buffer.concat([this.#left, piece]);
    const lines = bytes.lastIndexOf(LF) + 1;
    // What is left of a long line was looked through before: a line of nothing but "=" is not gone through again and again.
    const known = this.#left.length > LONGEST_LINE ? this.#left.length : 3;
    const cut = lines === 0 && bytes.length > LONGEST_LINE ? safeCut(bytes, known) : lines;
    this.#left = bytes.subarray(cut);
    return cut === 0 ? NOTHING : decodeQuotedPrintable(bytes.subarray(0, cut));
  }

  end(): Buffer {
    return decodeQuotedPrintable(this.#left);
  }
}

/** Behind an octet after `from` that is neither blank nor line end, with no "=" among the last three; 0: there is none. */
function safeCut(bytes: Buffer, from: number): number {
  for (let at = bytes.length; at > from; at--) {
    const last = bytes[at - 1] ?? 0;
    const plain = last > 32 && last !== EQUALS && bytes[at - 2] !== EQUALS && bytes[at - 3] !== EQUALS;
    if (plain) return at;
  }
  return 0;
}
