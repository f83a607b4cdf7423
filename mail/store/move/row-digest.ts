import { createHash, type Hash } from 'node:crypto';

/** A stored value: integers of 64 bits are bigint, and numbers are REAL. */
export type StoredValue = null | bigint | number | string | Uint8Array;

const MASK = (1n << 256n) - 1n;

/** Number and digest of rows, whatever their order: the sum of their SHA-256. */
export class RowDigest {
  rows = 0;
  #sum = 0n;

  add(row: readonly StoredValue[]): void {
    const hash = createHash('sha256');
    for (const value of row) addValue(hash, value);
    this.#sum = (this.#sum + BigInt(`0x${hash.digest('hex')}`)) & MASK;
    this.rows++;
  }

  equals(other: RowDigest): boolean {
    return this.rows === other.rows && this.#sum === other.#sum;
  }
}

/** With type and length, so that no two rows have the same octets. */
function addValue(hash: Hash, value: StoredValue): void {
  if (value === null) return void hash.update('null;');
  const octets = typeof value === 'object' ? value : Buffer.from(String(value));
  const type = typeof value === 'object' ? 'octets' : typeof value;
  hash.update(`${type} ${octets.byteLength};`).update(octets);
}
