import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
const DIGITS = 6;
/** Octets of a shared secret: the length of the hash. RFC 4226 4 R6. */
const SECRET_BYTES = 20;
/** Steps by which the clock of a phone may be off, in both directions. RFC 6238 5.2. */
const MAX_DRIFT = 1;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** Time step of a time in ms. RFC 6238 4.2. */
function stepOf(at: number): number {
  return Math.floor(at / STEP_MS);
}

/** Computes the code of a time step, with HMAC-SHA-1 as all authenticator apps do. RFC 4226 5.3. */
export function totpCode(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hash = createHmac('sha1', secret).update(counter).digest();
  const offset = (hash.at(-1) ?? 0) & 0xf;
  return String((hash.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** Finds the time step of a code; undefined if it is wrong, outside the window, or not after the last accepted step. */
export function acceptedStep(
  secret: Uint8Array,
  code: string,
  { now, after }: { now: number; after: number },
): number | undefined {
  const given = Buffer.from(code);
  if (given.length !== DIGITS) return undefined;
  const middle = stepOf(now);
  for (let step = Math.max(middle - MAX_DRIFT, after + 1); step <= middle + MAX_DRIFT; step++) {
    if (timingSafeEqual(Buffer.from(totpCode(secret, step)), given)) return step;
  }
  return undefined;
}

/** Encodes in base32 without padding, as authenticator apps read it. RFC 4648 6. */
export function encodeBase32(octets: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const octet of octets) {
    value = ((value << 8) | octet) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(value >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + BASE32[(value << (5 - bits)) & 31];
}

/** URI that authenticator apps read from a QR code. */
export function totpUri(secret: Uint8Array, { email, hostname }: { email: string; hostname: string }): string {
  const label = `${encodeURIComponent(hostname)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${encodeBase32(secret)}&issuer=${encodeURIComponent(hostname)}`;
}
