import { createCipheriv, createDecipheriv, hash, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { BackupProblem } from './backup-error.ts';

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

/** Cost of one guess of a passphrase: 64 MiB and about 0.2 s. */
const SCRYPT = { n: 65_536, r: 8, p: 1 };
/** A damaged or foreign head asks for no more. */
const MAX_SCRYPT_OCTETS = 2 ** 30;
const TAG_OCTETS = 16;
const NONCE_OCTETS = 12;

/** First object of a target: which database its backups are of, and how they are encrypted. */
export interface RepositoryHead {
  format: 1;
  id: string;
  /** Identity of the database; one target has the backups of one database. */
  database: string;
  createdAt: number;
  encryption: { kdf: 'scrypt'; n: number; r: number; p: number; salt: string; key: string } | null;
}

/** Creates a head, and the key of its objects; no key without a passphrase. */
export async function createHead(
  database: string,
  passphrase: string | undefined,
  now: number,
): Promise<{ head: RepositoryHead; key: Buffer | undefined }> {
  const head: RepositoryHead = {
    format: 1,
    id: randomBytes(8).toString('hex'),
    database,
    createdAt: now,
    encryption: null,
  };
  if (passphrase === undefined) return { head, key: undefined };
  const key = randomBytes(32);
  const salt = randomBytes(16);
  const cipherKey = await keyOf(passphrase, salt, SCRYPT);
  const nonce = randomBytes(NONCE_OCTETS);
  const cipher = createCipheriv('aes-256-gcm', cipherKey, nonce, { authTagLength: TAG_OCTETS });
  cipher.setAAD(Buffer.from(head.id));
  const sealed = Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
  head.encryption = { kdf: 'scrypt', ...SCRYPT, salt: salt.toString('base64'), key: sealed.toString('base64') };
  return { head, key };
}

/** Opens the key of the objects. Throws {@link BackupProblem} for a passphrase that is missing or wrong. */
export async function openHead(head: RepositoryHead, passphrase: string | undefined): Promise<Buffer | undefined> {
  const { encryption } = head;
  if (encryption === null) return undefined;
  if (passphrase === undefined) {
    throw new BackupProblem(
      'The backup is encrypted. Set MAILSTEAD_BACKUP_PASSPHRASE or MAILSTEAD_BACKUP_PASSPHRASE_FILE.',
    );
  }
  const cipherKey = await keyOf(passphrase, Buffer.from(encryption.salt, 'base64'), encryption);
  const sealed = Buffer.from(encryption.key, 'base64');
  const nonce = sealed.subarray(0, NONCE_OCTETS);
  const decipher = createDecipheriv('aes-256-gcm', cipherKey, nonce, { authTagLength: TAG_OCTETS });
  decipher.setAAD(Buffer.from(head.id)).setAuthTag(sealed.subarray(-TAG_OCTETS));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_OCTETS, -TAG_OCTETS)), decipher.final()]);
  } catch {
    throw new BackupProblem(
      'The passphrase is wrong for this backup. Check MAILSTEAD_BACKUP_PASSPHRASE: it must be the one that the first backup to this target was made with.',
    );
  }
}

/** A head as an object: JSON, then its SHA-256. It is not secret. */
export function writeHead(head: RepositoryHead): Buffer {
  const text = JSON.stringify(head);
  return Buffer.from(`${text}\n${hash('sha256', text, 'hex')}\n`);
}

export function readHead(octets: Buffer, label: string): RepositoryHead {
  const [text = '', sum, end, ...more] = octets.toString('utf8').split('\n');
  if (sum !== hash('sha256', text, 'hex') || end !== '' || more.length > 0) {
    throw new BackupProblem(`The first object of ${label} is damaged, or no backup. Use another copy of the backup.`);
  }
  const head = JSON.parse(text) as RepositoryHead;
  if (head.format === 1) return head;
  throw new BackupProblem(`${label} was written by a newer Mailstead. Use that version to read it.`);
}

function keyOf(passphrase: string, salt: Buffer, { n, r, p }: { n: number; r: number; p: number }): Promise<Buffer> {
  const maxmem = 256 * n * r;
  if (maxmem > MAX_SCRYPT_OCTETS || p > 16) throw new BackupProblem('The backup asks for too much memory to open it.');
  return derive(passphrase.normalize('NFC'), salt, 32, { N: n, r, p, maxmem });
}
