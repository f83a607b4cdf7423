import { argon2, type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Semaphore } from '../../mail/limits/semaphore.ts';
import { preparePassword } from '../../mail/login/saslprep.ts';

const derive = promisify<'argon2id', Argon2Parameters, Buffer>(argon2);

export const MIN_PASSWORD = 12;
export const MAX_PASSWORD = 200;

interface Cost {
  /** KiB. */
  memory: number;
  passes: number;
  parallelism: number;
}

/** OWASP's floor for argon2id: 19 MiB, two passes. RFC 9106. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Stand-in for an unknown address, so that checking it takes the same time. */
const NOBODY = phc(COST, Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));

/** Reason why a new password is not accepted. */
export type PasswordFault = 'short' | 'long' | 'control';

/** The fault of a new password; undefined if it is accepted. */
export function passwordFault(password: string): PasswordFault | undefined {
  if (password.length < MIN_PASSWORD) return 'short';
  if (password.length > MAX_PASSWORD) return 'long';
  return preparePassword(password) === undefined ? 'control' : undefined;
}

/** Explains in English why a password is not accepted. */
export const PASSWORD_PROBLEMS: Readonly<Record<PasswordFault, string>> = {
  short: `Use at least ${MIN_PASSWORD} characters.`,
  long: `Use at most ${MAX_PASSWORD} characters.`,
  control: 'A password cannot contain control characters.',
};

/**
 * Hashes and verifies people's passwords: argon2id as PHC strings. Two derivations run at once and a bounded number waits;
 * beyond that the result is `busy`.
 */
export class Passwords {
  readonly #derivations = new Semaphore({ limit: 2, maxWaiting: 32 });

  /** Undefined: too many derivations are queued. The password has passed {@link passwordFault}. */
  async hash(password: string): Promise<string | undefined> {
    const salt = randomBytes(SALT_BYTES);
    if (this.#derivations.isFull) return undefined;
    using _permit = await this.#derivations.acquire();
    return phc(COST, salt, await deriveKey(password, salt, COST));
  }

  /** Compares a password with the stored hash; null never matches and takes the same time. */
  async matches(stored: string | null, password: string): Promise<boolean | undefined> {
    const known = read(stored ?? NOBODY) ?? read(NOBODY);
    if (known === undefined) throw new Error('the stand-in hash is invalid');
    if (this.#derivations.isFull) return undefined;
    using _permit = await this.#derivations.acquire();
    const hash = await deriveKey(password.slice(0, MAX_PASSWORD), known.salt, known.cost);
    return timingSafeEqual(hash, known.hash) && stored !== null;
  }
}

function deriveKey(password: string, salt: Buffer, { memory, passes, parallelism }: Cost): Promise<Buffer> {
  const message = Buffer.from(preparePassword(password) ?? password);
  return derive('argon2id', { message, nonce: salt, memory, passes, parallelism, tagLength: HASH_BYTES });
}

function phc({ memory, passes, parallelism }: Cost, salt: Buffer, hash: Buffer): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(hash)}`;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

function read(text: string): { cost: Cost; salt: Buffer; hash: Buffer } | undefined {
  const [, memory, passes, parallelism, salt, hash] = FORM.exec(text) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}
