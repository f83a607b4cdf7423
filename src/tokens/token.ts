import { hash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 24;
/** Shown of a secret: so many digits, and less where its prefix is long. */
const SHOWN_HEX = 6;
const LEAST_HEX = 4;
const MOST_SHOWN = 11;

/** What a token may do. `send` is implied by `manage`, `mail_read` by `read`. */
export const ACTIONS = ['read', 'manage', 'deploy', 'logs', 'restart', 'rollback', 'send', 'mail_read'] as const;
export type Action = (typeof ACTIONS)[number];

/** What an organization's first token has: the six actions of the interface, which imply the other two. */
export const ALL_ACTIONS: readonly Action[] = ['read', 'manage', 'deploy', 'logs', 'restart', 'rollback'];

/** A secret of 192 random bits: `<prefix>_` and 48 hexadecimal characters. */
export function makeToken(prefix: string): string {
  return `${prefix}_${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** An email API key: told from a token at a glance, and never taken for one. */
export function makeApiKey(prefix: string): string {
  return `${prefix}_ek_${randomBytes(SECRET_BYTES).toString('hex')}`;
}

/** Secrets of 192 bits are looked up by their hash: nothing is compared, so nothing is timed. */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The first characters, by which people know a secret again; at most 24 of its 192 bits. */
export function shownPart(secret: string): string {
  const digits = secret.lastIndexOf('_') + 1;
  return secret.slice(0, Math.min(digits + SHOWN_HEX, Math.max(digits + LEAST_HEX, MOST_SHOWN)));
}

export function isToken(text: string, prefix: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-9a-f]{48}$/.test(text.slice(prefix.length + 1));
}

/** The actions that a set grants, with what they imply. */
export function granted(actions: readonly string[]): ReadonlySet<Action> {
  const set = new Set(ACTIONS.filter((one) => actions.includes(one)));
  if (set.has('manage')) set.add('send');
  if (set.has('read')) set.add('mail_read');
  return set;
}
