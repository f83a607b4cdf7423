/**
 * A copy of octets in which one bit differs, counted from 0. A value that is written over an octet that is encrypted or packed
 * is there already in one run of 256: then nothing is damaged.
 */
export function flipped(octets: Buffer, bit: number): Buffer {
  const copy = Buffer.from(octets);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}
