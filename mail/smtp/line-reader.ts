/** The reason why a line is not a command. */
export type LineFlaw =
  /** Longer than the limit; skipped to its end. */
  | 'too-long'
  /** Longer than 64 KiB without a line end: the peer does not speak SMTP. */
  | 'endless'
  /** Ended by a bare LF. */
  | 'bare-lf'
  /** A control character, NUL or a bare CR inside. */
  | 'control'
  /** Octets over 127 that are not UTF-8. */
  | 'not-utf8';

const LF = 10;
const CR = 13;
const MAX_SKIPPED_OCTETS = 65_536;
const PLAIN = /^[\x20-\x7e]*$/;
const CONTROL = /[\x00-\x1f\x7f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Splits the input of one session into command lines or raw octets. Buffers at most one incomplete line of `limit` octets
 * beside the last chunk.
 */
export class LineReader {
  #chunk: Buffer | undefined;
  #at = 0;
  #skipped = 0;

  /** Unread octets. */
  get buffered(): number {
    return this.#chunk === undefined ? 0 : this.#chunk.length - this.#at;
  }

  push(chunk: Buffer): void {
    this.#chunk = this.#chunk === undefined ? chunk : Buffer.concat([this.#chunk.subarray(this.#at), chunk]);
    this.#at = 0;
  }

  /** Returns all unread octets; the caller gives back unused ones with {@link push}. */
  take(): Buffer | undefined {
    const taken = this.#chunk?.subarray(this.#at);
    this.drop();
    return taken;
  }

  /** Discards all unread octets. */
  drop(): void {
    this.#chunk = undefined;
    this.#at = 0;
  }

  /** The next line without its CRLF, a flaw, or undefined when no line is complete. */
  line(limit: number): string | { flaw: LineFlaw } | undefined {
    const chunk = this.#chunk;
    if (chunk === undefined) return undefined;
    const end = chunk.indexOf(LF, this.#at);
    if (end < 0) return this.#unfinished(chunk, limit);
    const start = this.#at;
    this.#at = end + 1;
    if (this.#at === chunk.length) this.drop();
    if (this.#skipped > 0 || end + 1 - start > limit) return this.#tooLong();
    // RFC 5321 2.3.8: only CRLF ends a line. Accepting a bare LF allows SMTP smuggling.
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
    return this.#skipped > MAX_SKIPPED_OCTETS ? { flaw: 'endless' } : undefined;
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
