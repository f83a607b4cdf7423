/** A complete, sanitized reply of a server. */
export interface ServerReply {
  code: number;
  /** The enhanced status code, if it matches the code. RFC 2034. */
  enhanced: string | undefined;
  /** Text of each line without code and enhanced code: no control characters, at most 1,000 characters a line. */
  lines: readonly string[];
}

export type ReadReply =
  | { kind: 'reply'; reply: ServerReply }
  /** The server does not speak SMTP: close the connection. Nothing is read after it. */
  | { kind: 'broken'; why: string };

const LF = 10;
const CR = 13;
const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/su;
const ENHANCED = /^([245]\.\d{1,3}\.\d{1,3})(?: |$)/;
const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const MAX_REPLY_OCTETS = 65_536;
const MAX_REPLY_LINES = 100;

/**
 * Reads the replies of a possibly hostile server: at most 64 KiB and 100 lines each. RFC 5321 4.2.1. Accepts a bare LF
 * as a line end: it allows no smuggling in this direction, and some servers send it.
 */
export class ReplyReader {
  #rest: Buffer = Buffer.alloc(0);
  #octets = 0;
  #code = 0;
  #lines: string[] = [];
  #broken: ReadReply | undefined;

  /**
   * True when octets of an incomplete reply are buffered. After the 220 to STARTTLS this means that plaintext was
   * injected before the encryption: close the connection.
   */
  get pending(): boolean {
    return this.#rest.length > 0 || this.#lines.length > 0;
  }

  /** Adds octets from the server and returns the replies that they complete, in order. */
  push(chunk: Buffer): ReadReply[] {
    const replies: ReadReply[] = [];
    if (this.#broken !== undefined) return [this.#broken];
    let at = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, at)) {
      const line = this.#withRest(chunk.subarray(at, end));
      at = end + 1;
      const read = this.#line(line);
      if (read !== undefined) replies.push(read);
      if (read?.kind === 'broken') return replies;
    }
    const left = chunk.subarray(at);
    if (this.#octets + this.#rest.length + left.length > MAX_REPLY_OCTETS)
      replies.push(this.#break('a reply is too long'));
    else if (left.length > 0) this.#rest = Buffer.concat([this.#rest, left]);
    return replies;
  }

  #withRest(line: Buffer): Buffer {
    const whole = this.#rest.length === 0 ? line : Buffer.concat([this.#rest, line]);
    this.#rest = Buffer.alloc(0);
    return whole;
  }

  #line(octets: Buffer): ReadReply | undefined {
    this.#octets += octets.length + 1;
    if (this.#octets > MAX_REPLY_OCTETS) return this.#break('a reply is too long');
    const text = octets.subarray(0, octets.at(-1) === CR ? -1 : undefined).toString();
    const parts = LINE.exec(text);
    if (parts === null) return this.#break('the server sent no valid SMTP reply');
    const code = Number(parts[1]);
    if (this.#lines.length > 0 && code !== this.#code) return this.#break('the lines of a reply differ in code');
    this.#code = code;
    this.#lines.push(parts[3] ?? '');
    if (parts[2] !== '-') return this.#finished();
    return this.#lines.length >= MAX_REPLY_LINES ? this.#break('a reply has too many lines') : undefined;
  }

  #finished(): ReadReply {
    const raw = this.#lines;
    this.#lines = [];
    this.#octets = 0;
    const enhanced = ENHANCED.exec(raw[0] ?? '')?.[1];
    const fits = enhanced !== undefined && enhanced.startsWith(String(this.#code)[0] ?? '');
    const lines = raw.map((line) => clean(fits ? line.replace(ENHANCED, '') : line));
    return { kind: 'reply', reply: { code: this.#code, enhanced: fits ? enhanced : undefined, lines } };
  }

  #break(why: string): ReadReply {
    this.#rest = Buffer.alloc(0);
    this.#lines = [];
    return (this.#broken = { kind: 'broken', why });
  }
}

/** Makes a reply text safe for logs, journals and delivery reports. */
function clean(text: string): string {
  return text.slice(0, 1000).replace(UNPRINTABLE, '?');
}
