import { createHash, type Hash } from 'node:crypto';
import { BodyHasher, type Digest } from './dkim-body.ts';
import { SimpleBodyHasher } from './dkim-simple-body.ts';

/** Hash of a whole body in one canonical form. */
export interface BodyHash {
  hash: Buffer;
  /** Octets of the canonical body. */
  length: number;
}

/**
 * Computes the body hashes that DKIM and ARC signatures need, in one pass. At most two (simple, relaxed) whatever the
 * number of signatures: canonicalizing the body is the most expensive step, and the sender chooses how many to add.
 */
export class BodyHashes {
  readonly #hashers = new Map<boolean, { hasher: BodyHasher | SimpleBodyHasher; digest: CountingDigest }>();
  readonly #done = new Map<boolean, BodyHash>();

  /** Requests a canonical form; call before the first octet. */
  request(relaxed: boolean): void {
    if (this.#hashers.has(relaxed)) return;
    const digest = new CountingDigest();
    this.#hashers.set(relaxed, { hasher: relaxed ? new BodyHasher(digest) : new SimpleBodyHasher(digest), digest });
  }

  get isEmpty(): boolean {
    return this.#hashers.size === 0;
  }

  update(chunk: Uint8Array): void {
    for (const { hasher } of this.#hashers.values()) hasher.update(chunk);
  }

  /** Ends the body; call after the last octet. */
  end(): void {
    for (const [relaxed, { hasher, digest }] of this.#hashers) {
      this.#done.set(relaxed, { hash: hasher.digest(), length: digest.length });
    }
  }

  /** Returns a hash that was requested. */
  get(relaxed: boolean): BodyHash {
    const found = this.#done.get(relaxed);
    if (found === undefined) throw new Error('the body hash was not requested before the body was read');
    return found;
  }
}

/** SHA-256 that also counts octets. */
class CountingDigest implements Digest {
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
