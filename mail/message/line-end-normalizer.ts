const CR = 13;
const LF = 10;

/**
 * Converts bare LF and bare CR to CRLF, chunk by chunk, for messages from APPEND and imports. SMTP rejects them instead,
 * because they enable SMTP smuggling.
 */
export class LineEndNormalizer {
  #afterCr = false;

  push(chunk: Buffer): Buffer {
    if (chunk.length === 0) return chunk;
    const bare = this.#countBare(chunk);
    const lastIsCr = chunk[chunk.length - 1] === CR;
    if (bare === 0 && !this.#afterCr && !lastIsCr) return chunk;
    return this.#rewrite(chunk);
  }

  /** Returns a CR that was held back in case an LF follows. */
  end(): Buffer {
    const held = this.#afterCr;
    this.#afterCr = false;
    return held ? Buffer.from('\r\n') : Buffer.alloc(0);
  }

  #countBare(chunk: Buffer): number {
    let bare = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, at + 1)) {
      if (at > 0 && chunk[at - 1] !== CR) bare++;
    }
    for (let at = chunk.indexOf(CR); at >= 0; at = chunk.indexOf(CR, at + 1)) {
      if (at + 1 < chunk.length && chunk[at + 1] !== LF) bare++;
    }
    return chunk[0] === LF ? bare + 1 : bare;
  }

  #rewrite(chunk: Buffer): Buffer {
    const out = Buffer.allocUnsafe(chunk.length * 2 + 2);
    let size = 0;
    const end = (): void => {
      out[size++] = CR;
      out[size++] = LF;
    };
    for (const octet of chunk) {
      if (this.#afterCr) {
        end();
        this.#afterCr = false;
        if (octet === LF) continue;
      }
      if (octet === CR) this.#afterCr = true;
      else if (octet === LF) end();
      else out[size++] = octet;
    }
    return out.subarray(0, size);
  }
}
