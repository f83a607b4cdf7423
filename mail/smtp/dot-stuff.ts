const LF = 10;
const CR = 13;
const DOT = 46;
const TEXT = 0;
const AFTER_CR = 1;
const LINE_START = 2;

/** Octets that {@link DotStuffer} refuses. */
export type UnsendableReason = 'bare-cr' | 'bare-lf' | 'nul';

export type StuffedChunk = { kind: 'octets'; octets: Buffer } | { kind: 'refused'; why: UnsendableReason };

/**
 * Encodes a message for DATA: doubles dots at line starts and adds the end marker. RFC 5321 4.5.2.
 *
 * Refuses a bare CR or LF or a NUL: another server may treat it as a line end and split the message in two
 * (SMTP smuggling; CVE-2026-33604 in another server). After a refusal nothing is returned, and the caller has to close the
 * connection, because DATA cannot be cancelled.
 */
export class DotStuffer {
  #state = LINE_START;
  #refused: UnsendableReason | undefined;

  /** Encodes the next octets. Returns `chunk` itself when it needs no dot. */
  push(chunk: Buffer): StuffedChunk {
    if (chunk.length === 0 && this.#refused === undefined) return { kind: 'octets', octets: chunk };
    // A CR is held back until its LF arrives, so no chunk ends in one.
    const held = this.#state === AFTER_CR ? 1 : 0;
    const stuffed = this.#scan(chunk);
    if (this.#refused !== undefined) return { kind: 'refused', why: this.#refused };
    const waits = this.#state === AFTER_CR ? 1 : 0;
    const ready = waits === 1 ? chunk.subarray(0, -1) : chunk;
    if (held === 0 && stuffed.length === 0) return { kind: 'octets', octets: ready };
    return { kind: 'octets', octets: build(ready, stuffed, held) };
  }

  /** The last octets: a CRLF if the message does not end with one, and the dot. */
  end(): StuffedChunk {
    if (this.#state === AFTER_CR) this.#refused ??= 'bare-cr';
    if (this.#refused !== undefined) return { kind: 'refused', why: this.#refused };
    return { kind: 'octets', octets: Buffer.from(this.#state === LINE_START ? '.\r\n' : '\r\n.\r\n') };
  }

  /** Finds line starts that need a dot, and refused octets. */
  #scan(chunk: Buffer): number[] {
    const stuffed: number[] = [];
    let state = this.#state;
    for (let at = 0; at < chunk.length; at += 1) {
      // Fast path: most octets are text within a line.
      if (state === TEXT) while (at < chunk.length && chunk[at]! > CR) at += 1;
      if (at === chunk.length) break;
      const octet = chunk[at]!;
      if (state === AFTER_CR && octet !== LF) this.#refused ??= 'bare-cr';
      if (octet === LF) {
        if (state !== AFTER_CR) this.#refused ??= 'bare-lf';
        state = LINE_START;
        continue;
      }
      if (octet === 0) this.#refused ??= 'nul';
      if (octet === DOT && state === LINE_START) stuffed.push(at);
      state = octet === CR ? AFTER_CR : TEXT;
    }
    this.#state = state;
    return stuffed;
  }
}

function build(octets: Buffer, stuffed: readonly number[], held: number): Buffer {
  const out = Buffer.allocUnsafe(held + octets.length + stuffed.length);
  if (held === 1) out[0] = CR;
  let from = 0;
  let to = held;
  for (const dot of stuffed) {
    to += octets.copy(out, to, from, dot);
    out[to] = DOT;
    to += 1;
    from = dot;
  }
  octets.copy(out, to, from);
  return out;
}
