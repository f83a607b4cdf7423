import { cleaned } from '../auth/forged-results.ts';
import { LIMITS } from '../message/limits.ts';

const END = Buffer.from('\r\n\r\n');
const NO_HEADER = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);

/**
 * Holds the header of a message back until it is whole, and lets it pass without what claims to be this server's own
 * word: it was there before this server looked. Nothing passes of a message whose header is longer than anybody reads:
 * programs that read more of it would find there what nobody took out.
 */
export class HeaderGate {
  readonly #authserv: string;
  #held: Buffer | undefined = NOTHING;
  /** From where on the end may be. */
  #from = 0;
  #tooLong = false;

  constructor(authserv: string) {
    this.#authserv = authserv;
  }

  get isTooLong(): boolean {
    return this.#tooLong;
  }

  /** What may pass now. */
  push(chunk: Buffer): Buffer[] {
    if (this.#tooLong) return [];
    if (this.#held === undefined) return [chunk];
    const held = (this.#held = Buffer.concat([this.#held, chunk]));
    if (held.length < NO_HEADER.length) return [];
    const end = startsWith(held, NO_HEADER) ? 0 : held.indexOf(END, this.#from);
    // Where it is not there yet its beginning may be.
    this.#from = Math.max(0, held.length - END.length + 1);
    this.#tooLong = (end < 0 ? this.#from : end) > LIMITS.header;
    if (end < 0 && !this.#tooLong) return [];
    this.#held = undefined;
    if (this.#tooLong) return [];
    if (end === 0) return [held];
    return [cleaned(held.subarray(0, end + 2), this.#authserv), held.subarray(end + 2)];
  }

  /** The rest, of a message that is nothing but a header. */
  end(): Buffer[] {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined || held.length === 0 ? [] : [cleaned(held, this.#authserv)];
  }
}

function startsWith(octets: Buffer, start: Buffer): boolean {
  return octets.subarray(0, start.length).equals(start);
}
