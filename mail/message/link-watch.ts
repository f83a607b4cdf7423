import { Base64Runs } from './base64-runs.ts';
import type { PartNode } from './part-tree.ts';
import type { SecretLinkForms } from './secret-link.ts';

/** Octets that are looked at together, and how much of the end of them is looked at again with the next. */
const STRETCH = 32 * 1024;
const OVERLAP = 2048;
/** Octets of one message of which all codings are undone; behind them links are found that stand as they are. */
const DEEP = 512 * 1024;
/** Octets of base64 of one message that are decoded: letters are short, whoever passes them on. */
const MOST_ENCODED = 4 * 1024 * 1024;
/** Types of what may be a letter, whole or in part; others are pictures, or packed in ways that hide it from everybody. */
const READABLE = /^(?:text\/|message\/|application\/(?:octet-stream|mbox)$)/;

/**
 * Watches for secret links while a message streams by: in its octets as they are, headers and attached messages with them,
 * and in what its base64 parts hold.
 */
export class LinkWatch {
  found = false;
  readonly #forms: SecretLinkForms;
  readonly #octets = new Stretches((stretch) => this.#look(stretch));
  #part: { from: number; runs: Base64Runs; stretches: Stretches } | undefined;
  #encoded = MOST_ENCODED;
  #deep = DEEP;

  constructor(forms: SecretLinkForms) {
    this.#forms = forms;
  }

  /** All octets, in pieces of any size. */
  push(bytes: Buffer): void {
    if (!this.found) this.#octets.push(bytes);
  }

  end(): boolean {
    this.#octets.end();
    return this.found;
  }

  /** The body of this leaf begins. */
  begin({ header, bodyStart }: PartNode): void {
    this.stop();
    if (this.found || header.encoding !== 'base64') return;
    if (!READABLE.test(`${header.type}/${header.subtype}`)) return;
    this.#part = {
      from: bodyStart,
      runs: new Base64Runs(),
      stretches: new Stretches((stretch) => this.#look(stretch)),
    };
  }

  /** The chunk that begins at `offset` is over and the part goes on. */
  keep(bytes: Buffer, offset: number): void {
    this.#decode(bytes, offset, bytes.length);
  }

  /** The part ends at the offset `end`. */
  finish(bytes: Buffer, offset: number, end: number): void {
    this.#decode(bytes, offset, end - offset);
    this.#part?.stretches.end();
    this.stop();
  }

  stop(): void {
    this.#part = undefined;
  }

  #decode(bytes: Buffer, offset: number, to: number): void {
    if (this.#part === undefined || this.found) return;
    const from = Math.max(0, this.#part.from - offset);
    // A delimiter that began in the chunk before was decoded with the rest: that adds letters behind the end.
    const piece = bytes.subarray(from, Math.min(Math.max(from, to), from + this.#encoded));
    this.#encoded -= piece.length;
    if (piece.length > 0) this.#part.stretches.push(this.#part.runs.push(piece));
  }

  #look(stretch: Buffer): void {
    if (this.found || !this.#forms.mayBeIn(stretch)) return;
    const text = stretch.toString('latin1');
    this.#deep -= text.length;
    this.found = this.#deep < 0 ? this.#forms.literallyIn(text) : this.#forms.in(text);
  }
}

/** Gathers pieces into stretches of which each begins with the end of the one before. */
class Stretches {
  readonly #look: (stretch: Buffer) => void;
  #kept: Buffer | undefined;
  #length = 0;

  constructor(look: (stretch: Buffer) => void) {
    this.#look = look;
  }

  /** The piece is copied: it may be used again by the caller. */
  push(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      const kept = this.#roomFor(piece.length - at);
      const copied = piece.copy(kept, this.#length, at);
      this.#length += copied;
      at += copied;
      if (this.#length === STRETCH) this.#turn(kept);
    }
  }

  /** Nearly all mail is shorter than a stretch, and there is much of it. */
  #roomFor(more: number): Buffer {
    const [kept, length] = [this.#kept, this.#length];
    const wanted = Math.min(STRETCH, length + more);
    if (kept !== undefined && kept.length >= wanted) return kept;
    const larger = Buffer.allocUnsafe(Math.min(STRETCH, Math.max(wanted, 2 * length)));
    kept?.copy(larger, 0, 0, length);
    this.#kept = larger;
    return larger;
  }

  end(): void {
    if (this.#kept !== undefined) this.#look(this.#kept.subarray(0, this.#length));
    this.#kept = undefined;
    this.#length = 0;
  }

  #turn(full: Buffer): void {
    this.#look(full);
    full.copyWithin(0, STRETCH - OVERLAP);
    this.#length = OVERLAP;
  }
}
