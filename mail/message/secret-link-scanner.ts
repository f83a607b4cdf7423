import { Base64Decoder } from './base64-decoder.ts';
import type { PartHeader } from './part-header.ts';
import type { LeafReader, PartNode } from './part-tree.ts';
import type { SecretLinkForms } from './secret-link.ts';

/** Octets of a scan window, and the overlap with the next one. */
const WINDOW = 32 * 1024;
const OVERLAP = 2048;
/** Octets of one message scanned with all decoders; beyond, only literal links are found. */
const MAX_DECODED = 512 * 1024;
/** Octets of base64 decoded in one message; our notices are short. */
const MAX_BASE64 = 4 * 1024 * 1024;
/** Content types that may contain a notice; others are images or archives. */
const READABLE = /^(?:text\/|message\/|application\/(?:octet-stream|mbox)$)/;

/** State of all scans of one message. */
interface LinkSearch {
  readonly forms: SecretLinkForms;
  found: boolean;
  /** Octets left to decode from base64, and to scan with all decoders. */
  encoded: number;
  deep: number;
}

/** Scans streamed octets for secret links, in windows that overlap. */
export class SecretLinkScanner {
  readonly search: LinkSearch;
  #kept: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(forms: SecretLinkForms, search = { forms, found: false, encoded: MAX_BASE64, deep: MAX_DECODED }) {
    this.search = search;
  }

  /** Adds octets in chunks of any size, which are copied: the caller may reuse them. */
  push(piece: Buffer): void {
    for (let at = 0; at < piece.length && !this.search.found;) {
      const wanted = Math.min(WINDOW, this.#length + piece.length - at);
      if (this.#kept.length < wanted) this.#grow(wanted);
      const copied = piece.copy(this.#kept, this.#length, at);
      this.#length += copied;
      at += copied;
      if (this.#length < WINDOW) return;
      this.#look(this.#kept);
      this.#kept.copyWithin(0, WINDOW - OVERLAP);
      this.#length = OVERLAP;
    }
  }

  end(): boolean {
    this.#look(this.#kept.subarray(0, this.#length));
    return this.search.found;
  }

  /** Grows the buffer on demand: nearly all mail is shorter than a window. */
  #grow(wanted: number): void {
    const larger = Buffer.allocUnsafe(Math.min(WINDOW, Math.max(wanted, 2 * this.#length)));
    this.#kept.copy(larger, 0, 0, this.#length);
    this.#kept = larger;
  }

  #look(window: Buffer): void {
    const { search } = this;
    if (search.found || !search.forms.mayBeIn(window)) return;
    const text = window.toString('latin1');
    search.deep -= text.length;
    search.found = search.deep < 0 ? search.forms.literallyIn(text) : search.forms.in(text);
  }
}

/** True if a part in base64 is decoded for the search. */
export function mayHoldNotice({ type, subtype }: PartHeader): boolean {
  return READABLE.test(`${type}/${subtype}`);
}

/** Decodes a base64 part and scans its content. */
export class EncodedLinkReader implements LeafReader {
  readonly #from: number;
  readonly #runs = new Base64Decoder();
  readonly #scanner: SecretLinkScanner;

  constructor({ bodyStart }: PartNode, { search }: SecretLinkScanner) {
    this.#from = bodyStart;
    this.#scanner = new SecretLinkScanner(search.forms, search);
  }

  keep(bytes: Buffer, offset: number): void {
    this.#decode(bytes, offset, bytes.length);
  }

  finish(bytes: Buffer, offset: number, end: number): void {
    this.#decode(bytes, offset, end - offset);
    this.#scanner.end();
  }

  #decode(bytes: Buffer, offset: number, to: number): void {
    const { search } = this.#scanner;
    if (search.found) return;
    const from = Math.max(0, this.#from - offset);
    // A delimiter that began in the previous chunk was decoded too: that only adds letters at the end.
    const piece = bytes.subarray(from, Math.min(Math.max(from, to), from + search.encoded));
    search.encoded -= piece.length;
    if (piece.length > 0) this.#scanner.push(this.#runs.push(piece));
  }
}
