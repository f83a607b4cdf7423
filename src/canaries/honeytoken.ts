import { randomBytes, randomInt } from 'node:crypto';

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Looks like a strong password or key that somebody wrote down; no other text has it. */
export function newHoneytoken(form: 'password' | 'key'): string {
  if (form === 'key') return `sk_live_${letters(32)}`;
  return [letters(8), letters(8), letters(8)].join('-');
}

const ROLES = ['backup-admin', 'console', 'root-access', 'vault', 'finance-archive', 'escrow'];

/** The local part of an address that looks as if it had a purpose. */
export function newLocalPart(): string {
  return `${ROLES[randomInt(ROLES.length)] ?? 'console'}.${randomBytes(5).toString('hex')}`;
}

function letters(count: number): string {
  return Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)] ?? 'x').join('');
}
