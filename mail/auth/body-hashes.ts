import { createHash, type Hash } from 'node:crypto';
import { BodyHasher, type Digest } from './dkim-body.ts';
import { SimpleBodyHasher } from './dkim-simple-body.ts';

/** What a signature covers of the body. */
interface Wanted {
  relaxed: boolean;
  /** Octets of the canonical body; undefined for all of it. */
  length: number | undefined;
}

export interface BodyHash {
  hash: Buffer;
  /** Canonical octets that the body has beyond the wanted length; below 0 where it is shorter. */
  beyond: number;
}

/** The hashes of one body that its signatures ask for, each made once, in one pass over the body. */
export class BodyHashes {
  readonly #hashers = new Map<string, { hasher: BodyHasher | SimpleBodyHasher; taken: Prefix }>();
  readonly #done = new Map<string, BodyHash>();

  /** Before the first octet. */
  want(wanted: Wanted): void {
    const key = keyOf(wanted);
    if (this.#hashers.has(key)) return;
    const taken = new Prefix(wanted.length ?? Infinity);
    this.#hashers.set(key, { hasher: wanted.relaxed ? new BodyHasher(taken) : new SimpleBodyHasher(taken), taken });
  }

  get isEmpty(): boolean {
    return this.#hashers.size === 0;
  }

  update(chunk: Uint8Array): void {
    for (const { hasher } of this.#hashers.values()) hasher.update(chunk);
  }

  /** After the last octet: the body has ended. */
  end(): void {
    for (const [key, { hasher, taken }] of this.#hashers) {
      this.#done.set(key, { hash: hasher.digest(), beyond: taken.beyond });
    }
  }

  /** Of what was wanted. */
  get(wanted: Wanted): BodyHash {
    const found = this.#done.get(keyOf(wanted));
    if (found === undefined) throw new Error('a body hash was asked for that nobody wanted');
    return found;
  }
}

function keyOf({ relaxed, length }: Wanted): string {
  return `${relaxed} ${length ?? ''}`;
}

/** Hashes the first so many octets, and counts them all. */
class Prefix implements Digest {
  readonly #hash: Hash = createHash('sha256');
  readonly #most: number;
  #seen = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get beyond(): number {
    return this.#most === Infinity ? 0 : this.#seen - this.#most;
  }

  update(octets: Uint8Array): void {
    const room = this.#most - this.#seen;
    this.#seen += octets.length;
    if (room > 0) this.#hash.update(room < octets.length ? octets.subarray(0, room) : octets);
  }

  digest(): Buffer {
    return this.#hash.digest();
  }
}
