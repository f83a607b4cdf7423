const LF = 10;
const CR = 13;
const DOT = 46;
const TEXT = 0;
const AFTER_CR = 1;
const LINE_START = 2;

/** What {@link DotStuffer} will not send. */
export type Unsendable = 'bare-cr' | 'bare-lf' | 'nul';

export type Stuffed = { kind: 'octets'; octets: Buffer } | { kind: 'refused'; why: Unsendable };

/**
 * Writes a message as it goes behind DATA: dots doubled at line starts, the end at the end. RFC 5321 4.5.2.
 *
 * A bare CR or LF or a NUL is refused and never given out: the next server might take it for a line end and our message
 * for two (CVE-2026-33604 is this hole in another server). After a refusal nothing more is given out, and the caller
 * has to drop the connection, for DATA cannot be taken back.
 */
export class DotStuffer {
  #state = LINE_START;
  #refused: Unsendable | undefined;

  /** Takes the next octets of the message. `chunk` itself is given out when nothing in it needs a dot. */
  push(chunk: Buffer): Stuffed {
    if (chunk.length === 0 && this.#refused === undefined) return { kind: 'octets', octets: chunk };
    // A CR waits until its LF is seen, so no chunk ever ends in one.
    const held = this.#state === AFTER_CR ? 1 : 0;
    const stuffed = this.#scan(chunk);
    if (this.#refused !== undefined) return { kind: 'refused', why: this.#refused };
    const waits = this.#state === AFTER_CR ? 1 : 0;
    const ready = waits === 1 ? chunk.subarray(0, -1) : chunk;
    if (held === 0 && stuffed.length === 0) return { kind: 'octets', octets: ready };
    return { kind: 'octets', octets: build(ready, stuffed, held) };
  }

  /** The last octets: the CRLF that a message without one at its end gets, and the dot. */
  end(): Stuffed {
    if (this.#state === AFTER_CR) this.#refused ??= 'bare-cr';
    if (this.#refused !== undefined) return { kind: 'refused', why: this.#refused };
    return { kind: 'octets', octets: Buffer.from(this.#state === LINE_START ? '.\r\n' : '\r\n.\r\n') };
  }

  /** Finds the line starts that need a dot, and what must not be sent. */
  #scan(chunk: Buffer): number[] {
    const stuffed: number[] = [];
    let state = this.#state;
    for (let at = 0; at < chunk.length; at += 1) {
      // Nearly all octets are text in the middle of a line.
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
