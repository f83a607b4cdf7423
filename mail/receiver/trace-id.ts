import { randomFillSync } from 'node:crypto';

/** In ASCII order, so that ids sort as their numbers do. */
const ALPHABET = '234567abcdefghijklmnopqrstuvwxyz';
/** Digits of the time in ms and of chance: 45 and 55 bits. */
const TIME = 9;
const RANDOM = 11;
const pool = Buffer.alloc(RANDOM * 256);
let at = pool.length;

/**
 * Generates an id of 20 letters and digits that is unique without coordination: the time, then chance. Ids of one time
 * are neighbors in an index, so that the commit of a message writes no random page for them.
 */
export function traceId(): string {
  if (at === pool.length) {
    randomFillSync(pool);
    at = 0;
  }
  let id = '';
  for (let rest = Date.now(), n = 0; n < TIME; n++, rest = Math.floor(rest / 32)) id = ALPHABET[rest % 32]! + id;
  for (const end = at + RANDOM; at < end; at += 1) id += ALPHABET[pool[at]! & 31]!;
  return id;
}
