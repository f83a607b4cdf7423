import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

const RECORD_SIZE = 4096;
/** A record also holds a delimiter and the GCM tag, 17 octets. */
const MAX_PLAINTEXT_BYTES = RECORD_SIZE - 17;
const PUBLIC_BYTES = 65;
const AUTH_BYTES = 16;

/** Encryption keys of a device: P-256 public key and authentication secret. RFC 8291 2. */
export interface PushKeys {
  p256dh: Uint8Array;
  auth: Uint8Array;
}

/** Reads subscription keys; undefined if a size is wrong or the point is not on the curve. */
export function readPushKeys(p256dh: string, auth: string): PushKeys | undefined {
  const keys = { p256dh: Buffer.from(p256dh, 'base64url'), auth: Buffer.from(auth, 'base64url') };
  if (keys.p256dh.length !== PUBLIC_BYTES || keys.p256dh[0] !== 4 || keys.auth.length !== AUTH_BYTES) return undefined;
  try {
    const probe = createECDH('prime256v1');
    probe.generateKeys();
    probe.computeSecret(keys.p256dh);
    return keys;
  } catch {
    return undefined;
  }
}

/**
 * Encrypts a push message of at most 4,079 octets as `aes128gcm` and returns the request body. RFC 8291 3.4 and 4,
 * RFC 8188 2. `own` is for the RFC's test vector; by default each message has a new key and salt.
 */
export function encryptPush(
  plaintext: Uint8Array,
  keys: PushKeys,
  own: { privateKey?: Uint8Array; salt?: Uint8Array } = {},
): Buffer {
  if (plaintext.length > MAX_PLAINTEXT_BYTES)
    throw new RangeError(`a push message can have at most ${MAX_PLAINTEXT_BYTES} octets`);
  const ecdh = createECDH('prime256v1');
  if (own.privateKey === undefined) ecdh.generateKeys();
  else ecdh.setPrivateKey(own.privateKey);
  const publicKey = ecdh.getPublicKey();
  const salt = Buffer.from(own.salt ?? randomBytes(16));
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.p256dh, publicKey]);
  const input = derive(ecdh.computeSecret(keys.p256dh), keys.auth, info, 32);
  const key = derive(input, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derive(input, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  // Delimiter 2 marks the last record. RFC 8188 2.
  const body = Buffer.concat([
    cipher.update(plaintext),
    cipher.update(Buffer.of(2)),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(RECORD_SIZE, 0);
  head.writeUInt8(publicKey.length, 4);
  return Buffer.concat([salt, head, publicKey, body]);
}

function derive(secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, length));
}
