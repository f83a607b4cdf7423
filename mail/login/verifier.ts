import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';

import { preparePassword } from './prepare.ts';

const derive = promisify(pbkdf2);

/** Rounds of PBKDF2. Enough, because passwords of mailboxes are generated with 128 bits. */
export const ITERATIONS = 4096;
export const SALT_BYTES = 16;

/** What is stored of a password: enough to check a proof or a password, not enough to log in elsewhere. RFC 5802 3. */
export interface Verifier {
  /** 32 octets each. */
  storedKey: Buffer;
  serverKey: Buffer;
}

/** PBKDF2-HMAC-SHA-256 of an already prepared password, on the thread pool. */
export type Derivation = (password: string, salt: Buffer, iterations: number) => Promise<Buffer>;

export const saltedPassword: Derivation = (password, salt, iterations) =>
  derive(password, salt, iterations, 32, 'sha256');

/** Makes the verifier of a new password. Throws RangeError when the password is empty or has forbidden characters. */
export async function makeVerifier(password: string, salt: Buffer, iterations = ITERATIONS): Promise<Verifier> {
  const prepared = preparePassword(password);
  if (prepared === undefined || prepared === '') {
    throw new RangeError('A password must have at least one character and no control characters');
  }
  return verifierOf(await saltedPassword(prepared, salt, iterations));
}

/** The verifier that belongs to a salted password. */
export function verifierOf(salted: Buffer): Verifier {
  return { storedKey: sha256(hmac(salted, 'Client Key')), serverKey: hmac(salted, 'Server Key') };
}

export function hmac(key: Buffer, text: string | Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

export function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/**
 * Lets a few key derivations run at once and a bounded number wait. Without it a flood of logins would fill the thread
 * pool that file reads and DNS need too.
 */
export class DerivationGate {
  readonly #atOnce: number;
  readonly #waitingLimit: number;
  readonly #waiting: Array<() => void> = [];
  #running = 0;

  constructor(atOnce = 2, waitingLimit = 64) {
    this.#atOnce = atOnce;
    this.#waitingLimit = waitingLimit;
  }

  /** Runs `work` when there is room for it, or answers undefined at once when too many wait already. */
  async run<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#waitingLimit) return undefined;
      await new Promise<void>((resolve) => this.#waiting.push(resolve)); // the place is handed over, still counted
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
