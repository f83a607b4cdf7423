import { randomFillSync } from 'node:crypto';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const SIZE = 20;
const pool = Buffer.alloc(SIZE * 256);
let at = pool.length;

/** Generates a random id of 100 bits as 20 letters and digits: unique without coordination, short enough to read out. */
export function traceId(): string {
  if (at === pool.length) {
    randomFillSync(pool);
    at = 0;
  }
  let id = '';
  for (const end = at + SIZE; at < end; at += 1) id += ALPHABET[pool[at]! & 31];
  return id;
}
