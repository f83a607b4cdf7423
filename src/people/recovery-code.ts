import { randomInt } from 'node:crypto';
import { secretHash } from '../core/token.ts';

const COUNT = 10;
const LENGTH = 16;
const GROUP = 4;
/** Letters and digits that are not confused in handwriting. 16 of these 32 have 80 bits, so a plain hash suffices. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Creates the codes that replace a lost second factor. Only their hashes are stored. */
export function newRecoveryCodes(): { codes: string[]; hashes: Uint8Array[] } {
  const plain = Array.from({ length: COUNT }, randomCode);
  return { codes: plain.map(grouped), hashes: plain.map(hashed) };
}

function randomCode(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}

function grouped(code: string): string {
  return Array.from({ length: LENGTH / GROUP }, (_, i) => code.slice(i * GROUP, (i + 1) * GROUP)).join('-');
}

/** Hashes a recovery code as entered, with or without hyphens; undefined if it has the wrong form. */
export function recoveryCodeHash(text: string): Uint8Array | undefined {
  if (text.length > 100) return undefined;
  const code = text.replace(/[\s-]/g, '').toUpperCase();
  return /^[A-HJ-NP-Z2-9]{16}$/.test(code) ? hashed(code) : undefined;
}

function hashed(code: string): Uint8Array {
  return Uint8Array.from(secretHash(code));
}
