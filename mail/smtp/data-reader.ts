/** What makes a message unfit to be stored or sent on. */
export type Flaw = 'bare-cr' | 'bare-lf' | 'nul' | 'long-line';

/** Longest line taken, without CRLF. RFC 5321 4.5.3.1.6 asks for 998; mail with more is common. */
export const LONGEST_LINE = 65_536;

const LF = 10;
const CR = 13;
const DOT = 46;
const NONE = Buffer.alloc(0);

/** Where the octet before the next one leaves us. */
const TEXT = 0;
const AFTER_CR = 1;
const LINE_START = 2;
const AFTER_DOT = 3;
const AFTER_DOT_CR = 4;

/**
 * Reads the message after DATA: takes the dots off (RFC 5321 4.5.2) and finds the end, which is CRLF.CRLF and nothing
 * else. A bare CR, a bare LF or a NUL is noted as a flaw and the message is still read to its real end, for what
 * follows would be taken for commands if the answer came in the middle (SMTP smuggling, CVE-2023-51764).
 *
 * Linear in the octets given, holds none of them.
 */
export class DataReader {
  /** The first flaw met; from then on no octets are given out. */
  flaw: Flaw | undefined;
  /** True when CRLF.CRLF has been read. */
  ended = false;
  /** Offset behind the last octet that was used of the chunk of the last {@link read}. */
  next = 0;
  // RFC 5321 4.1.1.4: the CRLF of the DATA line counts as the one before a dot, so an empty message ends with `.CRLF`.
  #state = LINE_START;
  #column = 0;

  /**
   * Reads `chunk` up to the end of the message or of the chunk and returns the octets without stuffing. They are a part
   * of `chunk`, which is overwritten for it up to {@link next}.
   */
  read(chunk: Buffer): Buffer {
    const length = chunk.length;
    let state = this.#state;
    let at = 0;
    let lineAt = -this.#column;
    // Octets before `kept` are the result; those from `run` to `at` still have to be moved down to it.
    let kept = 0;
    let run = 0;
    while (at < length) {
      const octet = chunk[at]!;
      switch (state) {
        case TEXT:
          if (octet > CR) {
            at += 1;
            while (at < length && chunk[at]! > CR) at += 1;
            break;
          }
          if (octet === CR) state = AFTER_CR;
          else if (octet === LF) this.#note('bare-lf');
          else if (octet === 0) this.#note('nul');
          at += 1;
          break;
        case AFTER_CR:
          if (octet === LF) {
            if (at - 1 - lineAt > LONGEST_LINE) this.#note('long-line');
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
    if (at - lineAt > LONGEST_LINE + 1) this.#note('long-line');
    this.#column = Math.min(at - lineAt, LONGEST_LINE + 2);
    this.#state = state;
    this.next = length;
    // A dot and a CR at the end of the chunk are the message's end or a bare CR: in neither case octets of the message.
    return this.#out(chunk, state === AFTER_DOT_CR ? kept : move(chunk, kept, run, length));
  }

  #note(flaw: Flaw): void {
    this.flaw ??= flaw;
  }

  #out(chunk: Buffer, kept: number): Buffer {
    if (kept === 0 || this.flaw !== undefined) return NONE;
    return kept === chunk.length ? chunk : chunk.subarray(0, kept);
  }
}

/** Moves the octets from `from` to `end` down to `to`, and returns the offset behind them. */
function move(chunk: Buffer, to: number, from: number, end: number): number {
  if (to === from) return end;
  // A call out of JavaScript for every line is what makes a body of dots slow.
  if (end - from > 64) chunk.copyWithin(to, from, end);
  else for (let i = from, j = to; i < end; i += 1, j += 1) chunk[j] = chunk[i]!;
  return to + end - from;
}
