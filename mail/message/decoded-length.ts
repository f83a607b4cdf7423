import { DELIMITER_MAX } from './limits.ts';
import type { LeafReader, PartNode } from './part-tree.ts';

/** Counts decoded octets, equal to the output of `decodeTransfer`. */
interface OctetCounter {
  feed(bytes: Uint8Array, from: number, to: number): void;
  end(): number;
}

/** Octets held back, as a delimiter and the line end before it may begin in the previous chunk. */
const MAX_HELD = DELIMITER_MAX + 2;

/** Counts the decoded octets of a part in base64 or quoted-printable while a message is streamed. */
export class DecodedLength implements LeafReader {
  readonly #node: PartNode;
  readonly #counter: OctetCounter;
  #held: Buffer = Buffer.alloc(0);

  constructor(node: PartNode) {
    this.#node = node;
    this.#counter = node.header.encoding === 'base64' ? new Base64Length() : new QuotedLength();
  }

  keep(bytes: Buffer, offset: number): void {
    const piece = bytes.subarray(Math.max(0, this.#node.bodyStart - offset));
    if (piece.length < MAX_HELD) {
      const all = Buffer.concat([this.#held, piece]);
      const ready = Math.max(0, all.length - MAX_HELD);
      this.#counter.feed(all, 0, ready);
      this.#held = all.subarray(ready);
    } else {
      this.#counter.feed(this.#held, 0, this.#held.length);
      this.#counter.feed(piece, 0, piece.length - MAX_HELD);
      this.#held = Buffer.from(piece.subarray(-MAX_HELD));
    }
  }

  finish(bytes: Buffer, offset: number, end: number): void {
    const from = Math.max(0, this.#node.bodyStart - offset);
    const to = end - offset;
    // Below zero: the last held octets belong to the delimiter.
    this.#counter.feed(this.#held, 0, this.#held.length + Math.min(0, to));
    this.#counter.feed(bytes, from, Math.max(from, to));
    this.#node.decodedLength = this.#counter.end();
  }
}

const EQUALS = 61;

/** 1 for the letters of both base64 alphabets. */
const LETTER = new Uint8Array(256);
for (const letter of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')) {
  LETTER[letter] = 1;
}

/** Padding ends a run; four letters of a run are three octets. */
class Base64Length implements OctetCounter {
  #letters = 0;
  #total = 0;

  feed(bytes: Uint8Array, from: number, to: number): void {
    // Hot loop for attachments: all variables are local.
    let letters = this.#letters;
    for (let i = from; i < to; i++) {
      const byte = bytes[i] ?? 0;
      letters += LETTER[byte] ?? 0;
      if (byte !== EQUALS) continue;
      this.#letters = letters;
      this.#endRun();
      letters = 0;
    }
    this.#letters = letters;
  }

  end(): number {
    this.#endRun();
    return this.#total;
  }

  #endRun(): void {
    this.#total += Math.floor((this.#letters * 3) / 4);
    this.#letters = 0;
  }
}

/** Blanks between "=" and a line end; the same limit as in decodeQuotedPrintable. */
const MAX_BLANKS = 80;

class QuotedLength implements OctetCounter {
  #total = 0;
  /** Pending blanks, dropped at a line end. */
  #blanks = 0;
  /** Octets after an "=" that may become an escape or a soft line break. */
  #open: number[] | undefined;

  feed(bytes: Uint8Array, from: number, to: number): void {
    for (let i = from; i < to; i++) this.#octet(bytes[i] ?? 0);
  }

  end(): number {
    // An "=" at the very end, with blanks or without, is a soft line end.
    if (this.#open?.every(isBlank) === false || (this.#open?.length ?? 0) >= MAX_BLANKS) this.#giveUp();
    return this.#total;
  }

  #octet(byte: number): void {
    if (this.#open !== undefined) this.#afterEquals(this.#open, byte);
    else if (byte === EQUALS) this.#open = [];
    else this.#plain(byte);
  }

  #plain(byte: number): void {
    if (byte === 10 || byte === 13) this.#total -= this.#blanks;
    this.#blanks = isBlank(byte) ? this.#blanks + 1 : 0;
    this.#total++;
  }

  #afterEquals(open: number[], byte: number): void {
    const last = open.at(-1);
    if (byte === 10 && (last === undefined || last === 13 || isBlank(last))) this.#close(0);
    else if (isHex(byte) && open.length === 1 && last !== undefined && isHex(last)) this.#close(1);
    else if (this.#mayGoOn(open, byte)) open.push(byte);
    else {
      this.#giveUp();
      this.#octet(byte);
    }
  }

  #mayGoOn(open: readonly number[], byte: number): boolean {
    if (open.length === 0) return isHex(byte) || isBlank(byte) || byte === 13;
    const last = open.at(-1) ?? 0;
    return isBlank(last) && (byte === 13 || (isBlank(byte) && open.length < MAX_BLANKS));
  }

  #close(octets: number): void {
    this.#total += octets;
    this.#blanks = 0;
    this.#open = undefined;
  }

  /** Not an escape: counts the "=" and the following octets literally. */
  #giveUp(): void {
    const followed = this.#open ?? [];
    this.#close(1);
    for (const byte of followed) this.#plain(byte);
  }
}

function isBlank(byte: number): boolean {
  return byte === 32 || byte === 9;
}

function isHex(byte: number): boolean {
  const letter = byte | 32;
  return (byte >= 48 && byte <= 57) || (letter >= 97 && letter <= 102);
}
