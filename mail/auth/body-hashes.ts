import { createHash, type Hash } from 'node:crypto';
import { BodyHasher, type Digest } from './dkim-body.ts';
import { SimpleBodyHasher } from './dkim-simple-body.ts';

/** A whole body in one canonical form. */
export interface BodyHash {
  hash: Buffer;
  /** Octets of the canonical body. */
  length: number;
}

/**
 * The hashes of one body that its signatures ask for, in one pass over the body. There are two at most, whatever the
 * signatures say: what each costs is the sender's to choose, and a canonical body is the dearest of it all.
 */
export class BodyHashes {
  readonly #hashers = new Map<boolean, { hasher: BodyHasher | SimpleBodyHasher; digest: Counted }>();
  readonly #done = new Map<boolean, BodyHash>();

  /** Before the first octet. */
  want(relaxed: boolean): void {
    if (this.#hashers.has(relaxed)) return;
    const digest = new Counted();
    this.#hashers.set(relaxed, { hasher: relaxed ? new BodyHasher(digest) : new SimpleBodyHasher(digest), digest });
  }

  get isEmpty(): boolean {
    return this.#hashers.size === 0;
  }

  update(chunk: Uint8Array): void {
    for (const { hasher } of this.#hashers.values()) hasher.update(chunk);
  }

  /** After the last octet: the body has ended. */
  end(): void {
    for (const [relaxed, { hasher, digest }] of this.#hashers) {
      this.#done.set(relaxed, { hash: hasher.digest(), length: digest.length });
    }
  }

  /** Of what was wanted. */
  get(relaxed: boolean): BodyHash {
    const found = this.#done.get(relaxed);
    if (found === undefined) throw new Error('a body hash was asked for that nobody wanted');
    return found;
  }
}

/** Hashes octets, and counts them. */
class Counted implements Digest {
  readonly #hash: Hash = createHash('sha256');
  length = 0;

  update(octets: Uint8Array): void {
    this.length += octets.length;
    this.#hash.update(octets);
  }

  digest(): Buffer {
    return this.#hash.digest();
  }
}
