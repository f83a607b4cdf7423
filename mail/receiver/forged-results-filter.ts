import { removeForgedFields } from '../auth/forged-results.ts';
import { LIMITS } from '../message/limits.ts';

const END = Buffer.from('\r\n\r\n');
const NO_HEADER = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * Removes forged Authentication-Results of this server from the header of a message. RFC 8601 5. Holds the header back
 * until it is complete. Passes nothing of a message whose header is longer than our parsers read: a client that reads
 * further would find the forged fields that were not removed.
 */
export class ForgedResultsFilter {
  readonly #authserv: string;
  #held: Buffer | undefined = NOTHING;
  /** First offset at which the end of the header may begin. */
  #searched = 0;
  /** True when the header exceeds the limit and the message must be refused. */
  isTooLong = false;

  constructor(authserv: string) {
    this.#authserv = authserv;
  }

  /** Returns the octets that may be stored now. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.isTooLong) return undefined;
    if (this.#held === undefined) return chunk;
    const held = (this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]));
    if (held.length < NO_HEADER.length) return undefined;
    const end = NO_HEADER.equals(held.subarray(0, NO_HEADER.length)) ? 0 : held.indexOf(END, this.#searched);
    // The last octets may be the first part of the end.
    this.#searched = Math.max(0, held.length - END.length + 1);
    this.isTooLong = (end < 0 ? this.#searched : end) > LIMITS.header;
    if (end < 0 && !this.isTooLong) return undefined;
    this.#held = undefined;
    if (this.isTooLong) return undefined;
    if (end === 0) return held;
    const header = held.subarray(0, end + 2);
    const clean = removeForgedFields(header, this.#authserv);
    return clean === header ? held : Buffer.concat([clean, held.subarray(end + 2)]);
  }

  /** Returns the rest of a message that ends before its header does. */
  end(): Buffer | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined || held.length === 0 ? undefined : removeForgedFields(held, this.#authserv);
  }
}
