import { createECDH, createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Answer } from 'dns-packet';
import type { DsRecord } from '../../../mail/dns/ds-lookup.ts';
import { nameOctets } from './canonical.ts';

/** ECDSAP256SHA256. RFC 6605. */
export const ALGORITHM = 13;
/** Zone key and secure entry point: one key signs the whole zone (CSK). RFC 4034 2.1.1. */
const FLAGS = 257;
const PROTOCOL = 3;
/** Digest types of DS records. RFC 4509, RFC 6605. */
const DIGESTS: Readonly<Record<number, string>> = { 1: 'sha1', 2: 'sha256', 4: 'sha384' };
const SHA256 = 2;
/** Seconds. */
const KEY_TTL = 3600;

/** The key that signs a zone. */
export class ZoneKey {
  readonly apex: string;
  readonly keyTag: number;
  readonly #private: KeyObject;
  /** RDATA of the DNSKEY record. */
  readonly #data: Buffer;

  /** `scalar`: the private key; throws if it is none of the curve. */
  constructor(apex: string, scalar: Uint8Array) {
    const curve = createECDH('prime256v1');
    curve.setPrivateKey(scalar);
    // Uncompressed: one octet 4, then x and y of 32 octets each. RFC 6605 4 wants these two.
    const point = curve.getPublicKey().subarray(1);
    const text = (octets: Uint8Array): string => Buffer.from(octets).toString('base64url');
    const [x, y, d] = [text(point.subarray(0, 32)), text(point.subarray(32)), text(scalar)] as const;
    this.apex = apex;
    this.#private = createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y, d } });
    this.#data = Buffer.concat([Buffer.of(FLAGS >> 8, FLAGS & 255, PROTOCOL, ALGORITHM), point]);
    this.keyTag = keyTagOf(this.#data);
  }

  /** The DNSKEY record of the zone. */
  get record(): Answer {
    const key = this.#data.subarray(4);
    return {
      name: this.apex,
      type: 'DNSKEY',
      class: 'IN',
      ttl: KEY_TTL,
      data: { flags: FLAGS, algorithm: ALGORITHM, key },
    };
  }

  /** The DS record for the zone above. */
  get delegationSigner(): DsRecord {
    return { keyTag: this.keyTag, algorithm: ALGORITHM, digestType: SHA256, digest: this.#digest('sha256') };
  }

  /** True for a DS record of this key, whatever its digest type. RFC 4034 5.1.4. */
  hasDelegation({ keyTag, algorithm, digestType, digest }: DsRecord): boolean {
    const hash = DIGESTS[digestType];
    if (hash === undefined || keyTag !== this.keyTag || algorithm !== ALGORITHM) return false;
    return this.#digest(hash).equals(digest);
  }

  /** Signs octets as RFC 6605 4 wants it: r and s, 32 octets each. */
  sign(octets: Buffer): Buffer {
    return sign('sha256', octets, { key: this.#private, dsaEncoding: 'ieee-p1363' });
  }

  #digest(hash: string): Buffer {
    return createHash(hash).update(nameOctets(this.apex)).update(this.#data).digest();
  }
}

const MAX_TRIES = 8;

/**
 * Derives the key of a zone from a secret of this server. The same zone always has the same key, on every node and after
 * a restore: a DS record at the zone above that is of another key makes the whole domain unreachable.
 */
export function deriveZoneKey(apex: string, derive: (purpose: string) => Buffer): ZoneKey {
  for (let tries = 1; ; tries += 1) {
    try {
      return new ZoneKey(apex, derive(`dnssec ${apex} ${tries}`));
    } catch (error) {
      // One of 2^32 numbers is no private key of the curve.
      if (tries >= MAX_TRIES) throw error;
    }
  }
}

/** Data of a DS record as a registrar wants it. RFC 4034 5.3. */
export function delegationText({ keyTag, algorithm, digestType, digest }: DsRecord): string {
  return `${keyTag} ${algorithm} ${digestType} ${digest.toString('hex').toUpperCase()}`;
}

/** RFC 4034 B. */
function keyTagOf(data: Buffer): number {
  const sum = data.reduce((all, octet, at) => all + (at % 2 === 0 ? octet << 8 : octet), 0);
  return (sum + (sum >> 16)) & 0xffff;
}
