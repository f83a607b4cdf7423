import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 24;
/** Digits shown of a secret, fewer after a long prefix. */
const SHOWN_HEX = 6;
const MIN_SHOWN_HEX = 4;
const MAX_SHOWN = 11;

/** Actions of a token. `manage` implies `send` and `organize`, `read` implies `mail_read`. */
export const ACTIONS = [
  'read',
  'manage',
  'deploy',
  'logs',
  'restart',
  'rollback',
  'send',
  'mail_read',
  'organize',
] as const;
export type Action = (typeof ACTIONS)[number];

/** Actions of an organization's first token: six, which imply the others. */
export const ALL_ACTIONS: readonly Action[] = ['read', 'manage', 'deploy', 'logs', 'restart', 'rollback'];

/** Creates a secret of 192 random bits: `<prefix>_` and 48 hexadecimal characters. */
export function makeToken(prefix: string): string {
  return `${prefix}_${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** Creates an email API key, whose form differs from a token's. */
export function makeApiKey(prefix: string): string {
  return `${prefix}_ek_${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** Hashes a secret. Secrets of 192 bits are looked up by hash: nothing is compared, so there is no timing leak. */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns the first characters, by which people recognize a secret: at most 24 of its 192 bits. */
export function shownPart(secret: string): string {
  const digits = secret.lastIndexOf('_') + 1;
  return secret.slice(0, Math.min(digits + SHOWN_HEX, Math.max(digits + MIN_SHOWN_HEX, MAX_SHOWN)));
}

export function isToken(text: string, prefix: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-f]{48}$/.test(text.slice(prefix.length + 1));
}

/** Expands actions with those that they imply. */
export function expandActions(actions: readonly string[]): ReadonlySet<Action> {
  const set = new Set(ACTIONS.filter((one) => actions.includes(one)));
  if (set.has('manage')) set.add('send').add('organize');
  if (set.has('read')) set.add('mail_read');
  return set;
}
