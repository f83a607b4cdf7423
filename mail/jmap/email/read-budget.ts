import { MethodError } from '../errors.ts';

/** Octets that one call may read of messages: what was written down of them, header fields and body values together. */
export const MOST_READ = 32 * 1024 * 1024;

/** What each read costs beyond its octets: many small ones are work too. */
const EACH = 512;

/** What one call may still read. It is asked before each read, so that nothing is read that no answer would hold. */
export class ReadBudget {
  #left: number;

  constructor(most = MOST_READ) {
    this.#left = most;
  }

  /** Throws `requestTooLarge`. */
  take(octets: number): void {
    this.#left -= octets + EACH;
    if (this.#left < 0) throw tooMuch();
  }
}

export function tooMuch(): MethodError {
  return new MethodError(
    'requestTooLarge',
    'This would read too much at once: ask for fewer messages or fewer properties, or set "maxBodyValueBytes".',
  );
}
