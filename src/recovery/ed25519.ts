import { createPublicKey, verify } from 'node:crypto';

/** SPKI prefix of Ed25519 (RFC 8410 4), followed by 32 octets. X25519 has another, so it is rejected. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * Points of small order, y in little-endian order without the sign bit. OpenSSL accepts them, and under them anybody can forge
 * signatures.
 */
const SMALL_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
]);
/** 2^255 - 19, little-endian. */
const P = Buffer.from('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f', 'hex');

/** Reads a public key from base64 or base64url SPKI, with optional PEM armor; returns its 32 octets. */
export function readEd25519Key(text: string): Buffer | undefined {
  const bare = text.replace(/-----(?:BEGIN|END) PUBLIC KEY-----/g, '').replace(/[\r\n ]/g, '');
  const der = readBase64(bare);
  if (der?.length !== SPKI_PREFIX.length + KEY_BYTES || !der.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX)) {
    return undefined;
  }
  const key = der.subarray(SPKI_PREFIX.length);
  return isSafePoint(key) ? Buffer.from(key) : undefined;
}

/** Rejects points of small order, and a y of p or more, which is a second encoding of another point. */
function isSafePoint(key: Buffer): boolean {
  const y = Buffer.from(key);
  y[KEY_BYTES - 1] = (y[KEY_BYTES - 1] ?? 0) & 0x7f;
  if (SMALL_ORDER.has(y.toString('hex'))) return false;
  return Buffer.compare(reversed(y), reversed(P)) < 0;
}

function reversed(bytes: Buffer): Buffer {
  return Buffer.from(bytes).reverse();
}

/** Decodes strict base64 or base64url, with or without padding. */
export function readBase64(text: string): Buffer | undefined {
  if (text.length > 1_000 || !/^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  // Rejects non-canonical trailing bits and wrong lengths.
  const canonical = bytes.toString('base64url');
  return canonical ===
    text
      .replace(/={1,2}$/, '')
      .replaceAll('+', '-')
      .replaceAll('/', '_')
    ? bytes
    : undefined;
}

/** Verifies a signature over exactly these octets. */
export function verifyEd25519(key: Uint8Array, octets: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, key]), format: 'der', type: 'spki' });
  return verify(null, octets, publicKey, signature);
}
