import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { BackupProblem } from './backup-error.ts';

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

/** Cost of one guess of a passphrase: 64 MiB and about 0.2 s. */
const SCRYPT = { n: 65_536, r: 8, p: 1 };
/** A damaged or foreign head asks for no more. */
const MAX_SCRYPT_OCTETS = 2 ** 30;
const TAG_OCTETS = 16;
const NONCE_OCTETS = 12;

/** The secret of a repository, sealed by a passphrase. */
export interface PassphraseSlot {
  kdf: 'scrypt';
  n: number;
  r: number;
  p: number;
  salt: string;
  key: string;
}

/** Seals the secret of the repository with this id. */
export async function sealByPassphrase(secret: Buffer, id: string, passphrase: string): Promise<PassphraseSlot> {
  const salt = randomBytes(16);
  const nonce = randomBytes(NONCE_OCTETS);
  const cipher = createCipheriv('aes-256-gcm', await keyOf(passphrase, salt, SCRYPT), nonce, {
    authTagLength: TAG_OCTETS,
  });
  cipher.setAAD(Buffer.from(id));
  const sealed = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
  return { kdf: 'scrypt', ...SCRYPT, salt: salt.toString('base64'), key: sealed.toString('base64') };
}

/** Throws {@link BackupProblem} for a wrong passphrase. */
export async function openByPassphrase(slot: PassphraseSlot, id: string, passphrase: string): Promise<Buffer> {
  const cipherKey = await keyOf(passphrase, Buffer.from(slot.salt, 'base64'), slot);
  const sealed = Buffer.from(slot.key, 'base64');
  const nonce = sealed.subarray(0, NONCE_OCTETS);
  const decipher = createDecipheriv('aes-256-gcm', cipherKey, nonce, { authTagLength: TAG_OCTETS });
  decipher.setAAD(Buffer.from(id)).setAuthTag(sealed.subarray(-TAG_OCTETS));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_OCTETS, -TAG_OCTETS)), decipher.final()]);
  } catch {
    throw new BackupProblem(
      'The passphrase is wrong for this backup. Check MAILSTEAD_BACKUP_PASSPHRASE: it must be the one that the first backup to this target was made with.',
    );
  }
}

function keyOf(passphrase: string, salt: Buffer, { n, r, p }: { n: number; r: number; p: number }): Promise<Buffer> {
  const maxmem = 256 * n * r;
  if (maxmem > MAX_SCRYPT_OCTETS || p > 16) throw new BackupProblem('The backup asks for too much memory to open it.');
  return derive(passphrase.normalize('NFC'), salt, 32, { N: n, r, p, maxmem });
}
