import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync, constants } from 'node:zlib';
import { BackupProblem } from './backup-error.ts';

const MAGIC = Buffer.from('MSB1');
const PLAIN = 0;
const SEALED = 1;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const SUM_OCTETS = 32;
const HEAD_OCTETS = MAGIC.length + 1;
/** Above any object that is written: a damaged or foreign one cannot fill the memory. */
const MAX_OBJECT = 2 ** 31 - 1;

/**
 * Packs objects of a backup: compressed, then sealed by AES-256-GCM, or with a SHA-256 where there is no passphrase. The
 * name is authenticated, so that no object can stand in for another one.
 */
export class Envelope {
  readonly #key: Buffer | undefined;

  /** `key` has 32 octets; undefined: not encrypted. */
  constructor(key: Buffer | undefined) {
    this.#key = key;
  }

  get encrypted(): boolean {
    return this.#key !== undefined;
  }

  seal(name: string, content: Buffer): Buffer {
    // Level 1: mail shrinks by as much as at level 3, in two thirds of the time.
    const packed = zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
    if (this.#key === undefined) return Buffer.concat([MAGIC, Buffer.of(PLAIN), sum(name, packed), packed]);
    const nonce = randomBytes(NONCE_OCTETS);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: TAG_OCTETS });
    cipher.setAAD(Buffer.from(name));
    const body = cipher.update(packed);
    return Buffer.concat([MAGIC, Buffer.of(SEALED), nonce, body, cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws {@link BackupProblem} if the object is damaged. */
  open(name: string, object: Buffer): Buffer {
    if (object.length < HEAD_OCTETS || !object.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged(name);
    const body = object.subarray(HEAD_OCTETS);
    const kind = object[MAGIC.length];
    if (kind !== (this.#key === undefined ? PLAIN : SEALED)) throw damaged(name);
    const packed = this.#key === undefined ? checked(name, body) : decrypted(this.#key, name, body);
    try {
      return zstdDecompressSync(packed, { maxOutputLength: MAX_OBJECT });
    } catch {
      throw damaged(name);
    }
  }
}

function checked(name: string, body: Buffer): Buffer {
  const packed = body.subarray(SUM_OCTETS);
  if (!body.subarray(0, SUM_OCTETS).equals(sum(name, packed))) throw damaged(name);
  return packed;
}

function decrypted(key: Buffer, name: string, body: Buffer): Buffer {
  if (body.length < NONCE_OCTETS + TAG_OCTETS) throw damaged(name);
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, NONCE_OCTETS), { authTagLength: TAG_OCTETS });
  decipher.setAAD(Buffer.from(name)).setAuthTag(body.subarray(-TAG_OCTETS));
  try {
    return Buffer.concat([decipher.update(body.subarray(NONCE_OCTETS, -TAG_OCTETS)), decipher.final()]);
  } catch {
    throw damaged(name);
  }
}

function sum(name: string, packed: Buffer): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\0`), hash('sha256', packed, 'buffer')]), 'buffer');
}

function damaged(name: string): BackupProblem {
  return new BackupProblem(`The object ${name} of the backup is damaged. Use another snapshot or another copy.`);
}
