import { LONGEST_LINE, type Flaw } from './data-reader.ts';

const LF = 10;
const CR = 13;

/**
 * Reads the octets of one message given in BDAT chunks. RFC 3030 2. Nothing is unescaped and the count alone says where
 * a chunk ends; without BINARYMIME the message still has to be lines ended by CRLF, so flaws are noted as for DATA.
 * They are followed across chunk boundaries, where a CR and its LF may be parted.
 */
export class BdatReader {
  /** The first flaw met; from then on no octets are given out. */
  flaw: Flaw | undefined;
  /** Octets of the current BDAT command that have not come yet. */
  remaining = 0;
  #afterCr = false;
  #column = 0;

  /** Begins the octets of one BDAT command. */
  begin(octets: number): void {
    this.remaining = octets;
  }

  /** Reads what belongs to this BDAT command off the front of `input`; the rest of `input` is not looked at. */
  read(input: Buffer): Buffer {
    const mine = input.length > this.remaining ? input.subarray(0, this.remaining) : input;
    this.remaining -= mine.length;
    if (this.flaw === undefined) this.#scan(mine);
    return mine;
  }

  /** After the last chunk: a CR still waiting for its LF is a bare one. */
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
        else if (at - 1 - lineAt > LONGEST_LINE) this.flaw ??= 'long-line';
        lineAt = at + 1;
      } else if (afterCr) this.flaw ??= 'bare-cr';
      if (octet === 0) this.flaw ??= 'nul';
      afterCr = octet === CR;
    }
    if (octets.length - lineAt > LONGEST_LINE + 1) this.flaw ??= 'long-line';
    this.#column = Math.min(octets.length - lineAt, LONGEST_LINE + 2);
    this.#afterCr = afterCr;
  }
}
