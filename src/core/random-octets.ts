import { randomBytes } from 'node:crypto';

const POOL_OCTETS = 4096;

let pool = Buffer.alloc(0);
let at = 0;

/**
 * Random octets, at most 4096, for ids that each request creates: they are taken from a pool, since a call of the generator
 * costs ten times as much as the octets. None is given twice. Keys come from the generator itself. A view of the pool: whoever
 * posts it to another thread copies the whole pool.
 */
export function randomOctets(count: number): Buffer {
  if (at + count > pool.length) {
    pool = randomBytes(POOL_OCTETS);
    at = 0;
  }
  return pool.subarray(at, (at += count));
}
