import crypto, { type Argon2Parameters } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Callback = (error: Error | null, derived: Buffer) => void;

/** Cost of people's passwords (src/people/password.ts): each takes 30 ms of CPU and 19 MiB, and hundreds of tests sign in. */
const isCostOfPeople = ({ memory, passes }: Argon2Parameters): boolean => memory === 19_456 && passes === 2;
const CHEAP = { memory: 8, passes: 1 };
const CHEAPENED = Symbol.for('mailstead.cheap-passwords');

/** Derives with the least memory what the product asks at its cost; another cost, as of known hashes, is computed as asked. */
if (!(CHEAPENED in crypto.argon2)) {
  const original = crypto.argon2;
  const cheap = (algorithm: 'argon2id', parameters: Argon2Parameters, callback: Callback): void =>
    original(algorithm, isCostOfPeople(parameters) ? { ...parameters, ...CHEAP } : parameters, callback);
  Object.defineProperty(crypto, 'argon2', { value: Object.assign(cheap, { [CHEAPENED]: true }) });
  syncBuiltinESMExports();
}
