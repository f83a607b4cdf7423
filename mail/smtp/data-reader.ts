/** A flaw for which a message is rejected. */
export type MessageFlaw = 'bare-cr' | 'bare-lf' | 'nul' | 'long-line';

/** Longest accepted line, without CRLF. RFC 5321 4.5.3.1.6 requires 998; longer ones are common. */
export const MAX_LINE_OCTETS = 65_536;

const LF = 10;
const CR = 13;
const DOT = 46;
const NONE = Buffer.alloc(0);

/** Parser states. */
const TEXT = 0;
const AFTER_CR = 1;
const LINE_START = 2;
const AFTER_DOT = 3;
const AFTER_DOT_CR = 4;

/**
 * Reads the message after DATA: removes dot-stuffing (RFC 5321 4.5.2) and finds the end, which is only CRLF.CRLF. A bare
 * CR, a bare LF or a NUL is a flaw, but the message is still read to its real end: after an early reply the rest would be
 * parsed as commands (SMTP smuggling, CVE-2023-51764).
 *
 * Linear time; buffers no octets.
 */
export class DataReader {
  /** The first flaw found; no octets are returned after it. */
  flaw: MessageFlaw | undefined;
  /** True when CRLF.CRLF has been read. */
  ended = false;
  /** Offset after the last octet consumed by the last {@link read}. */
  next = 0;
  // RFC 5321 4.1.1.4: the CRLF of the DATA line counts as the one before a dot, so an empty message ends with `.CRLF`.
  #state = LINE_START;
  #column = 0;

  /**
   * Reads `chunk` up to the end of the message or of the chunk and returns the octets without dot-stuffing. They are a view
   * of `chunk`, which is overwritten up to {@link next}.
   */
  read(chunk: Buffer): Buffer {
    const length = chunk.length;
    let state = this.#state;
    let at = 0;
    let lineAt = -this.#column;
    // Octets before `kept` are the result; those from `run` to `at` still have to be moved to it.
    let kept = 0;
    let run = 0;
    while (at < length) {
      const octet = chunk[at]!;
      switch (state) {
        case TEXT:
          if (octet > CR) at = skipText(chunk, at + 1);
          else {
            state = this.#control(octet);
            at += 1;
          }
          break;
        case AFTER_CR:
          if (octet === LF) {
            if (at - 1 - lineAt > MAX_LINE_OCTETS) this.#note('long-line');
            at += 1;
            lineAt = at;
            state = LINE_START;
            break;
          }
          this.#note('bare-cr');
          state = TEXT;
          break;
        case LINE_START:
          if (octet !== DOT) {
            state = TEXT;
            break;
          }
          kept = move(chunk, kept, run, at);
          at += 1;
          run = at;
          state = AFTER_DOT;
          break;
        case AFTER_DOT:
          state = TEXT;
          if (octet !== CR) break;
          at += 1;
          state = AFTER_DOT_CR;
          break;
        default:
          if (octet === LF) {
            this.ended = true;
            this.next = at + 1;
            return this.#out(chunk, kept);
          }
          this.#note('bare-cr');
          state = TEXT;
      }
    }
    this.#suspend(state, at - lineAt);
    this.next = length;
    // A dot and a CR at the end of the chunk are the end of the message or a bare CR, never content.
    return this.#out(chunk, state === AFTER_DOT_CR ? kept : move(chunk, kept, run, length));
  }

  /** Notes a control octet within a line as a flaw, where it is one, and returns the state after it. */
  #control(octet: number): number {
    if (octet === CR) return AFTER_CR;
    if (octet === LF) this.#note('bare-lf');
    else if (octet === 0) this.#note('nul');
    return TEXT;
  }

  /** Keeps the state for the next chunk. `column`: octets of the current line so far. */
  #suspend(state: number, column: number): void {
    if (column > MAX_LINE_OCTETS + 1) this.#note('long-line');
    this.#column = Math.min(column, MAX_LINE_OCTETS + 2);
    this.#state = state;
  }

  #note(flaw: MessageFlaw): void {
    this.flaw ??= flaw;
  }

  #out(chunk: Buffer, kept: number): Buffer {
    if (kept === 0 || this.flaw !== undefined) return NONE;
    return kept === chunk.length ? chunk : chunk.subarray(0, kept);
  }
}

/** Returns the offset of the first octet at or after `at` that may be a control octet of {@link DataReader}, or the end. */
function skipText(chunk: Buffer, at: number): number {
  let next = at;
  while (next < chunk.length && chunk[next]! > CR) next += 1;
  return next;
}

/** Moves the octets from `from` to `end` to `to`, and returns the offset after them. */
function move(chunk: Buffer, to: number, from: number, end: number): number {
  if (to === from) return end;
  // A native call per line would make a body of dots slow.
  if (end - from > 64) chunk.copyWithin(to, from, end);
  else for (let i = from, j = to; i < end; i += 1, j += 1) chunk[j] = chunk[i]!;
  return to + end - from;
}
