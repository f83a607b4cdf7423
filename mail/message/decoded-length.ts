import { DELIMITER_MAX } from './limits.ts';
import type { PartNode } from './part-tree.ts';

/** Counts what octets become without their transfer encoding, as `decodeTransfer` would write them. */
interface Counter {
  feed(bytes: Uint8Array, from: number, to: number): void;
  end(): number;
}

/** A delimiter may begin in the chunk before, and so may the line end before it: so much is held back. */
const HELD = DELIMITER_MAX + 2;

/** Counts the decoded octets of one part after the other while a message streams by. */
export class DecodedLength {
  #node: PartNode | undefined;
  #counter: Counter | undefined;
  #held: Buffer = Buffer.alloc(0);

  /** The body of this leaf begins. */
  begin(node: PartNode): void {
    this.stop();
    this.#node = node;
    this.#counter = counterOf(node.header.encoding);
  }

  /** The chunk that begins at `offset` is over and the part goes on. */
  keep(bytes: Buffer, offset: number): void {
    const counter = this.#counter;
    if (counter === undefined || this.#node === undefined) return;
    const piece = bytes.subarray(Math.max(0, this.#node.bodyStart - offset));
    if (piece.length < HELD) {
      const all = Buffer.concat([this.#held, piece]);
      const ready = Math.max(0, all.length - HELD);
      counter.feed(all, 0, ready);
      this.#held = all.subarray(ready);
    } else {
      counter.feed(this.#held, 0, this.#held.length);
      counter.feed(piece, 0, piece.length - HELD);
      this.#held = Buffer.from(piece.subarray(-HELD));
    }
  }

  /** The part ends at the offset `end`. */
  finish(bytes: Buffer, offset: number, end: number): void {
    const node = this.#node;
    if (node !== undefined && this.#counter !== undefined) {
      const from = Math.max(0, node.bodyStart - offset);
      const to = end - offset;
      // Below zero: the last octets that are held are the delimiter's.
      this.#counter.feed(this.#held, 0, this.#held.length + Math.min(0, to));
      this.#counter.feed(bytes, from, Math.max(from, to));
      node.decodedLength = this.#counter.end();
    }
    this.stop();
  }

  stop(): void {
    this.#node = undefined;
    this.#counter = undefined;
    this.#held = Buffer.alloc(0);
  }
}

function counterOf(encoding: string): Counter | undefined {
  if (encoding === 'base64') return new Base64Length();
  return encoding === 'quoted-printable' ? new QuotedLength() : undefined;
}

const EQUALS = 61;

/** 1: a letter of base64, of either alphabet. */
const LETTER = new Uint8Array(256);
for (const letter of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')) {
  LETTER[letter] = 1;
}

/** Each padding ends a run; of a run, every four letters are three octets. */
class Base64Length implements Counter {
  #letters = 0;
  #total = 0;

  feed(bytes: Uint8Array, from: number, to: number): void {
    // Attachments are most of what passes here: everything in the loop is local.
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

/** Blanks between "=" and a line end; decodeQuotedPrintable looks no further either. */
const MOST_BLANKS = 80;

class QuotedLength implements Counter {
  #total = 0;
  /** Blanks just counted, which a line end takes back. */
  #blanks = 0;
  /** What followed an "=" that may still become an escape or a soft line end. */
  #open: number[] | undefined;

  feed(bytes: Uint8Array, from: number, to: number): void {
    for (let i = from; i < to; i++) this.#octet(bytes[i] ?? 0);
  }

  end(): number {
    // An "=" at the very end, with blanks or without, is a soft line end.
    if (this.#open?.every(isBlank) === false || (this.#open?.length ?? 0) >= MOST_BLANKS) this.#giveUp();
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
    return isBlank(last) && (byte === 13 || (isBlank(byte) && open.length < MOST_BLANKS));
  }

  #close(octets: number): void {
    this.#total += octets;
    this.#blanks = 0;
    this.#open = undefined;
  }

  /** No escape: the "=" stands for itself, and so does what followed it. */
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
