import { randomInt } from 'node:crypto';

// 31 characters without look-alikes (0, o, 1, i, l). 26 of them are 128.8 bits.
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz';
const GROUPS = [5, 5, 5, 5, 6];

/** A new password of at least 128 random bits, such as `k7mfw-2rtqa-...`. The hyphens are part of it. */
export function generatePassword(): string {
  return GROUPS.map((length) => Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')).join('-');
}
