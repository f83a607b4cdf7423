import crypto, { type KeyObject } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { promisify } from 'node:util';

interface RsaPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

/** As many as a test compares: a rotation must give another key than the last ones. */
const POOL_SIZE = 12;
const original = crypto.generateKeyPair;
const generate = promisify(original);
const pool: Promise<RsaPair>[] = [];
let next = 0;

/** Generates as usual until the pool is full, then gives out its RSA-2048 keys in turns: a new one takes 100 ms of CPU. */
function pooledPair(type: string, options: { modulusLength?: number }): Promise<RsaPair> {
  if (type !== 'rsa' || options.modulusLength !== 2048 || Object.keys(options).length > 1)
    return generate(type as 'rsa', options as { modulusLength: number });
  const index = next++ % POOL_SIZE;
  return (pool[index] ??= generate('rsa', { modulusLength: 2048 }));
}

const POOLED = Symbol.for('mailstead.pooled-rsa-keys');
if (!(POOLED in crypto.generateKeyPair)) {
  const pooled = Object.assign((...args: Parameters<typeof crypto.generateKeyPair>) => original(...args), {
    [promisify.custom]: pooledPair,
    [POOLED]: true,
  });
  Object.defineProperty(crypto, 'generateKeyPair', { value: pooled });
  syncBuiltinESMExports();
}
