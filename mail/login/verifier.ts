import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';

import { preparePassword } from './saslprep.ts';

const derive = promisify(pbkdf2);

/** PBKDF2 iterations. Enough, because mailbox passwords are generated with 128 bits. */
export const ITERATIONS = 4096;
export const SALT_BYTES = 16;

/** Stored keys of a password: they verify a proof or a password, but do not reveal it. RFC 5802 3. */
export interface Verifier {
  /** 32 octets each. */
  storedKey: Buffer;
  serverKey: Buffer;
}

/** PBKDF2-HMAC-SHA-256 of an already prepared password, on the thread pool. */
export type Derivation = (password: string, salt: Buffer, iterations: number) => Promise<Buffer>;

export const saltedPassword: Derivation = (password, salt, iterations) =>
  derive(password, salt, iterations, 32, 'sha256');

/** Creates the verifier of a new password. Throws RangeError when it is empty or has prohibited characters. */
export async function makeVerifier(password: string, salt: Buffer, iterations = ITERATIONS): Promise<Verifier> {
  const prepared = preparePassword(password);
  if (prepared === undefined || prepared === '') {
    throw new RangeError('A password must have at least one character and no control characters');
  }
  return verifierOf(await saltedPassword(prepared, salt, iterations));
}

/** The verifier of a salted password. */
export function verifierOf(salted: Buffer): Verifier {
  return { storedKey: sha256(hmac(salted, 'Client Key')), serverKey: hmac(salted, 'Server Key') };
}

export function hmac(key: Buffer, text: string | Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

export function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}
