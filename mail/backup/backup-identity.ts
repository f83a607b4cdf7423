import { hash, randomBytes } from 'node:crypto';
import { publicKeyOf, sharedSecret, X25519_OCTETS } from './x25519.ts';

const RECIPIENT = 'mailstead-recipient-';
const IDENTITY = 'MAILSTEAD-IDENTITY-';
/** Octets of the checksum: a mistyped recipient would seal backups that nobody opens. */
const CHECK_OCTETS = 4;

/** A new identity, which opens backups. Its recipient is for the server that makes them. */
export function createIdentity(): { identity: string; recipient: string } {
  const privateKey = randomBytes(X25519_OCTETS);
  return { identity: format(IDENTITY, privateKey), recipient: formatRecipient(publicKeyOf(privateKey)) };
}

/** Content of the file of an identity. */
export function identityFile({ identity, recipient }: { identity: string; recipient: string }, now: number): string {
  return [
    `# Identity of backups of Mailstead, made ${new Date(now).toISOString()}. It opens them: keep it apart from the server.`,
    `# For MAILSTEAD_BACKUP_RECIPIENT of the server: ${recipient}`,
    identity,
    '',
  ].join('\n');
}

export function formatRecipient(publicKey: Buffer): string {
  return format(RECIPIENT, publicKey);
}

/** Octets of a public key; undefined if the text is mistyped, or no key that can be sealed to. */
export function parseRecipient(text: string): Buffer | undefined {
  const key = parse(RECIPIENT, text);
  return key !== undefined && sharedSecret(randomBytes(X25519_OCTETS), key) !== undefined ? key : undefined;
}

/** Octets of a private key; undefined if the text is mistyped. */
export function parseIdentity(text: string): Buffer | undefined {
  return parse(IDENTITY, text);
}

/** Identities in a file: one a line, besides empty lines and comments. Undefined if a line is none, or if there is none. */
export function parseIdentityFile(text: string): Buffer[] | undefined {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#')).map(parseIdentity);
  const known = identities.filter((one) => one !== undefined);
  return known.length > 0 && known.length === identities.length ? known : undefined;
}

/** Prefix, then 32 octets and a checksum as 48 characters of base64url. */
function format(prefix: string, key: Buffer): string {
  return prefix + Buffer.concat([key, checksum(prefix, key)]).toString('base64url');
}

function parse(prefix: string, text: string): Buffer | undefined {
  if (!text.startsWith(prefix) || !/^[\w-]{48}$/.test(text.slice(prefix.length))) return undefined;
  const octets = Buffer.from(text.slice(prefix.length), 'base64url');
  const key = octets.subarray(0, X25519_OCTETS);
  return checksum(prefix, key).equals(octets.subarray(X25519_OCTETS)) ? key : undefined;
}

function checksum(prefix: string, key: Buffer): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(prefix), key]), 'buffer').subarray(0, CHECK_OCTETS);
}
