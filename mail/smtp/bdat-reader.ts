import { MAX_LINE_OCTETS, type MessageFlaw } from './data-reader.ts';

const LF = 10;
const CR = 13;

/**
 * Reads the octets of one message sent in BDAT chunks. RFC 3030 2. There is no dot-stuffing and the count alone ends a
 * chunk. Without BINARYMIME the message must consist of CRLF lines, so flaws are detected as in DATA, also across chunk
 * boundaries, where a CR and its LF may be split.
 */
export class BdatReader {
  /** The first flaw found; no octets are returned after it. */
  flaw: MessageFlaw | undefined;
  /** Octets of the current chunk that are still missing. */
  remaining = 0;
  #afterCr = false;
  #column = 0;

  /** Begins a chunk. */
  begin(octets: number): void {
    this.remaining = octets;
  }

  /** Reads the octets of this chunk from the front of `input`; ignores the rest. */
  read(input: Buffer): Buffer {
    const chunk = input.length > this.remaining ? input.subarray(0, this.remaining) : input;
    this.remaining -= chunk.length;
    if (this.flaw === undefined) this.#scan(chunk);
    return chunk;
  }

  /** Ends the message: a CR at its end is a bare one. */
  end(): void {
    if (this.#afterCr) this.flaw ??= 'bare-cr';
  }

  #scan(octets: Buffer): void {
    let afterCr = this.#afterCr;
    let lineAt = -this.#column;
    for (let at = 0; at < octets.length; at += 1) {
      const octet = octets[at]!;
      if (octet > CR && !afterCr) continue;
      if (octet === LF) {
        if (!afterCr) this.flaw ??= 'bare-lf';
        else if (at - 1 - lineAt > MAX_LINE_OCTETS) this.flaw ??= 'long-line';
        lineAt = at + 1;
      } else if (afterCr) this.flaw ??= 'bare-cr';
      if (octet === 0) this.flaw ??= 'nul';
      afterCr = octet === CR;
    }
    if (octets.length - lineAt > MAX_LINE_OCTETS + 1) this.flaw ??= 'long-line';
    this.#column = Math.min(octets.length - lineAt, MAX_LINE_OCTETS + 2);
    this.#afterCr = afterCr;
  }
}
