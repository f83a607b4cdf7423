import { createPublicKey, verify } from 'node:crypto';

/** SPKI of Ed25519, RFC 8410 4: this prefix and 32 octets. X25519 has another, so it is refused by it. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * The points of small order, y in little-endian order without the sign bit. OpenSSL takes them, and a signature that
 * anybody can write then verifies under them.
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

/** Reads a public key from base64 or base64url SPKI, PEM armour allowed; the 32 octets, or undefined. */
export function readPublicKey(text: string): Buffer | undefined {
  const bare = text.replace(/-----(?:BEGIN|END) PUBLIC KEY-----/g, '').replace(/[\r\n ]/g, '');
  const der = readBase64(bare);
  if (der?.length !== SPKI_PREFIX.length + KEY_BYTES || !der.subarray(0, SPKI_PREFIX.length).equals(SPKI_PREFIX)) {
    return undefined;
  }
  const key = der.subarray(SPKI_PREFIX.length);
  return isSafe(key) ? Buffer.from(key) : undefined;
}

/** Neither of small order nor with a y that is not below p, which would be a second spelling of another point. */
function isSafe(key: Buffer): boolean {
  const y = Buffer.from(key);
  y[KEY_BYTES - 1] = (y[KEY_BYTES - 1] ?? 0) & 0x7f;
  if (SMALL_ORDER.has(y.toString('hex'))) return false;
  return Buffer.compare(reversed(y), reversed(P)) < 0;
}

function reversed(bytes: Buffer): Buffer {
  return Buffer.from(bytes).reverse();
}

/** Base64 or base64url, with or without padding, and nothing else. */
export function readBase64(text: string): Buffer | undefined {
  if (text.length > 1_000 || !/^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  // Trailing bits that no encoder writes, or a wrong length, come back as another text.
  const canonical = bytes.toString('base64url');
  return canonical === text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_') ? bytes : undefined;
}

/** True when the signature was made over exactly these octets by the key. */
export function verifies(key: Uint8Array, octets: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  const publicKey = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, key]), format: 'der', type: 'spki' });
  return verify(null, octets, publicKey, signature);
}
