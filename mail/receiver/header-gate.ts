import { cleaned } from '../auth/forged-results.ts';
import { LIMITS } from '../message/limits.ts';

const END = Buffer.from('\r\n\r\n');

/**
 * Holds the header of a message back until it is whole, and lets it pass without what claims to be this server's own
 * word: it was there before this server looked. Of a header that is longer than anybody reads nothing is looked for.
 */
export class HeaderGate {
  readonly #authserv: string;
  #held: Buffer | undefined = Buffer.alloc(0);
  /** From where on the end may be. */
  #from = 0;

  constructor(authserv: string) {
    this.#authserv = authserv;
  }

  /** What may pass now. */
  push(chunk: Buffer): Buffer[] {
    if (this.#held === undefined) return [chunk];
    const held = (this.#held = Buffer.concat([this.#held, chunk]));
    const end = held.indexOf(END, this.#from);
    this.#from = Math.max(0, held.length - END.length + 1);
    if (end < 0 && held.length <= LIMITS.header) return [];
    this.#held = undefined;
    return end < 0 ? [held] : [cleaned(held.subarray(0, end + 2), this.#authserv), held.subarray(end + 2)];
  }

  /** The rest, of a message that is nothing but a header. */
  end(): Buffer[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined || held.length === 0 ? [] : [cleaned(held, this.#authserv)];
  }
}
