import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { publicKeyOf, sharedSecret, X25519_OCTETS } from './x25519.ts';

const CIPHER = 'chacha20-poly1305';
const KEY_OCTETS = 32;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const VERSION = Buffer.from('HPKE-v1');
/** Suites of RFC 9180 7: DHKEM(X25519, HKDF-SHA256) is 0x0020, HKDF-SHA256 0x0001, ChaCha20-Poly1305 0x0003. */
const KEM_SUITE = Buffer.from('KEM\x00\x20', 'latin1');
const SUITE = Buffer.from('HPKE\x00\x20\x00\x01\x00\x03', 'latin1');
const MODE_BASE = 0;
const MODE_PSK = 1;
const NOTHING = Buffer.alloc(0);

/** Input that sender and recipient of a message share. */
export interface HpkeContext {
  /** Names the purpose. */
  info: Buffer;
  /** Authenticated with the message. */
  aad: Buffer;
  /** A secret key of 32 octets that the sender proves to have, and its public name. */
  psk?: { key: Buffer; id: Buffer };
}

/**
 * Seals one message to a public key by hybrid public key encryption, RFC 9180 6.1: the encapsulated key (32), ciphertext,
 * tag (16). Throws a RangeError for a public key of small order. `ephemeral` is set by tests only.
 */
export function sealTo(
  publicKey: Buffer,
  context: HpkeContext,
  message: Buffer,
  ephemeral: Buffer = randomBytes(X25519_OCTETS),
): Buffer {
  const secret = sharedSecret(ephemeral, publicKey);
  if (secret === undefined) throw new RangeError('a public key of small order');
  const encapsulated = publicKeyOf(ephemeral);
  const { key, nonce } = messageKey(secret, Buffer.concat([encapsulated, publicKey]), context);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_OCTETS });
  cipher.setAAD(context.aad, { plaintextLength: message.length });
  return Buffer.concat([encapsulated, cipher.update(message), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what {@link sealTo} sealed. Undefined: it was altered, or is for another key or context. */
export function openWith(privateKey: Buffer, context: HpkeContext, sealed: Buffer): Buffer | undefined {
  if (sealed.length < X25519_OCTETS + TAG_OCTETS) return undefined;
  const encapsulated = sealed.subarray(0, X25519_OCTETS);
  const secret = sharedSecret(privateKey, encapsulated);
  if (secret === undefined) return undefined;
  const { key, nonce } = messageKey(secret, Buffer.concat([encapsulated, publicKeyOf(privateKey)]), context);
  const body = sealed.subarray(X25519_OCTETS, -TAG_OCTETS);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_OCTETS });
  decipher.setAAD(context.aad, { plaintextLength: body.length }).setAuthTag(sealed.subarray(-TAG_OCTETS));
  try {
    return Buffer.concat([decipher.update(body), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** ExtractAndExpand and KeySchedule, RFC 9180 4.1 and 5.1. Each key seals one message, so its nonce is the first one. */
function messageKey(secret: Buffer, kemContext: Buffer, { info, psk }: HpkeContext): { key: Buffer; nonce: Buffer } {
  const extracted = labeledExtract(KEM_SUITE, NOTHING, 'eae_prk', secret);
  const shared = labeledExpand(KEM_SUITE, extracted, 'shared_secret', kemContext, KEY_OCTETS);
  const schedule = Buffer.concat([
    Buffer.of(psk === undefined ? MODE_BASE : MODE_PSK),
    labeledExtract(SUITE, NOTHING, 'psk_id_hash', psk?.id ?? NOTHING),
    labeledExtract(SUITE, NOTHING, 'info_hash', info),
  ]);
  const expanded = labeledExtract(SUITE, shared, 'secret', psk?.key ?? NOTHING);
  return {
    key: labeledExpand(SUITE, expanded, 'key', schedule, KEY_OCTETS),
    nonce: labeledExpand(SUITE, expanded, 'base_nonce', schedule, NONCE_OCTETS),
  };
}

function labeledExtract(suite: Buffer, salt: Buffer, label: string, input: Buffer): Buffer {
  return hmac(salt, VERSION, suite, Buffer.from(label), input);
}

/** One block of HKDF-Expand: `length` is at most 32. */
function labeledExpand(suite: Buffer, key: Buffer, label: string, info: Buffer, length: number): Buffer {
  const size = Buffer.of(length >> 8, length & 0xff);
  return hmac(key, size, VERSION, suite, Buffer.from(label), info, Buffer.of(1)).subarray(0, length);
}

function hmac(key: Buffer, ...parts: readonly Buffer[]): Buffer {
  const sum = createHmac('sha256', key);
  for (const part of parts) sum.update(part);
  return sum.digest();
}
