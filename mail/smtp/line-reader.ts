/** Why a line is no command. */
export type LineFlaw =
  /** Longer than the limit; it has been skipped to its end. */
  | 'too-long'
  /** So long without an end that the peer is not speaking SMTP. */
  | 'endless'
  /** Ended by a bare LF. */
  | 'bare-lf'
  /** A control character, NUL or a bare CR inside. */
  | 'control'
  /** Octets over 127 that are not UTF-8. */
  | 'not-utf8';

const LF = 10;
const CR = 13;
const ENDLESS = 65_536;
const PLAIN = /^[\x20-\x7e]*$/;
const CONTROL = /[\x00-\x1f\x7f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The input of one session: chunks go in, command lines or raw octets come out. Holds at most one unfinished line of
 * `limit` octets beside the last chunk, however long the peer makes it.
 */
export class LineReader {
  #chunk: Buffer | undefined;
  #at = 0;
  #skipped = 0;

  /** Octets that have come and were not taken. */
  get waiting(): number {
    return this.#chunk === undefined ? 0 : this.#chunk.length - this.#at;
  }

  push(chunk: Buffer): void {
    this.#chunk = this.#chunk === undefined ? chunk : Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
    this.#at = 0;
  }

  /** Gives away everything that is waiting; the caller gives back what it did not use with {@link push}. */
  take(): Buffer | undefined {
    const taken = this.#chunk?.subarray(this.#at);
    this.drop();
    return taken;
  }

  /** Forgets everything that is waiting. */
  drop(): void {
    this.#chunk = undefined;
    this.#at = 0;
  }

  /** The next line without its CRLF, a flaw, or undefined when there is no whole line yet. */
  line(limit: number): string | { flaw: LineFlaw } | undefined {
    const chunk = this.#chunk;
    if (chunk === undefined) return undefined;
    const end = chunk.indexOf(LF, this.#at);
    if (end < 0) return this.#unfinished(chunk, limit);
    const start = this.#at;
    this.#at = end + 1;
    if (this.#at === chunk.length) this.drop();
    if (this.#skipped > 0 || end + 1 - start > limit) return this.#tooLong();
    // RFC 5321 2.3.8: a line ends in CRLF and nothing else. Who takes a bare LF can be sold one message as two.
    if (end === start || chunk[end - 1] !== CR) return { flaw: 'bare-lf' };
    const text = chunk.toString('latin1', start, end - 1);
    return PLAIN.test(text) ? text : decode(chunk.subarray(start, end - 1), text);
  }

  #tooLong(): { flaw: LineFlaw } {
    this.#skipped = 0;
    return { flaw: 'too-long' };
  }

  #unfinished(chunk: Buffer, limit: number): { flaw: LineFlaw } | undefined {
    const held = chunk.length - this.#at;
    if (this.#skipped === 0 && held <= limit) return undefined;
    this.#skipped += held;
    this.drop();
    return this.#skipped > ENDLESS ? { flaw: 'endless' } : undefined;
  }
}

function decode(octets: Buffer, latin1: string): string | { flaw: LineFlaw } {
  if (CONTROL.test(latin1)) return { flaw: 'control' };
  try {
    return utf8.decode(octets);
  } catch {
    return { flaw: 'not-utf8' };
  }
}
