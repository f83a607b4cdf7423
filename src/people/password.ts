import { argon2, type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { preparePassword } from '../../mail/login/prepare.ts';
import { DerivationGate } from '../../mail/login/verifier.ts';

const derive = promisify<'argon2id', Argon2Parameters, Buffer>(argon2);

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;

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

/** Checked against when there is nobody to check: an unknown address costs what a known one does. */
const NOBODY = phc(COST, Buffer.alloc(SALT_BYTES), Buffer.alloc(HASH_BYTES));

/** Why a password cannot be taken, as a sentence for the field it stands in; undefined when it can. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < SHORTEST_PASSWORD) return `Use at least ${SHORTEST_PASSWORD} characters.`;
  if (password.length > LONGEST_PASSWORD) return `Use at most ${LONGEST_PASSWORD} characters.`;
  return preparePassword(password) === undefined ? 'A password cannot hold control characters.' : undefined;
}

/**
 * Makes and checks what is stored of people's passwords: argon2id as PHC strings. Two derivations run at once and a
 * bounded number waits; what comes on top is answered `busy`.
 */
export class Passwords {
  readonly #gate = new DerivationGate(2, 32);

  /** Undefined: too many wait already. The password has passed {@link passwordProblem}. */
  hash(password: string): Promise<string | undefined> {
    const salt = randomBytes(SALT_BYTES);
    return this.#gate.run(async () => phc(COST, salt, await derived(password, salt, COST)));
  }

  /** Whether a password is the one that was stored; `stored` null is nobody's, and costs the same. */
  matches(stored: string | null, password: string): Promise<boolean | undefined> {
    const known = read(stored ?? NOBODY) ?? read(NOBODY);
    if (known === undefined) throw new Error('the password of nobody cannot be read');
    return this.#gate.run(async () => {
      const hash = await derived(password.slice(0, LONGEST_PASSWORD), known.salt, known.cost);
      return timingSafeEqual(hash, known.hash) && stored !== null;
    });
  }
}

function derived(password: string, salt: Buffer, { memory, passes, parallelism }: Cost): Promise<Buffer> {
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
