import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync, constants } from 'node:zlib';
import { BackupProblem } from './backup-error.ts';
import { type HpkeContext, openWith, sealTo } from './hpke.ts';

const MAGIC = Buffer.from('MSB1');
const PLAIN = 0;
const SEALED = 1;
/** A pack of a repository with recipients. */
const SEALED_TO_KEY = 2;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const SUM_OCTETS = 32;
const HEAD_OCTETS = MAGIC.length + 1;
/** Above any object that is written: a damaged or foreign one cannot fill the memory. */
const MAX_OBJECT = 2 ** 31 - 1;

/** Keys of the objects of a repository. */
export interface ObjectKeys {
  /** Opens and seals manifests, maps and hashes of pages, and packs if there are no recipients. 32 octets. */
  index: Buffer;
  /** Key pair of packs, if there are recipients. */
  packs?: PackKeys;
}

/** A server that makes backups for recipients has no private key. */
interface PackKeys {
  /** Id of the repository. */
  repository: string;
  publicKey: Buffer;
  privateKey: Buffer | undefined;
}

/**
 * Packs objects of a backup: compressed, then sealed by AES-256-GCM, to the public key of the repository, or with a SHA-256
 * where there is no key. The name is authenticated, so that no object can stand in for another one.
 */
export class Envelope {
  readonly #keys: ObjectKeys | undefined;

  /** Undefined: not encrypted. */
  constructor(keys: ObjectKeys | undefined) {
    this.#keys = keys;
  }

  get encrypted(): boolean {
    return this.#keys !== undefined;
  }

  seal(name: string, content: Buffer): Buffer {
    const packed = compress(content);
    if (this.#keys === undefined) return Buffer.concat([MAGIC, Buffer.of(PLAIN), sum(name, packed), packed]);
    const nonce = randomBytes(NONCE_OCTETS);
    const cipher = createCipheriv('aes-256-gcm', this.#keys.index, nonce, { authTagLength: TAG_OCTETS });
    cipher.setAAD(Buffer.from(name));
    const body = cipher.update(packed);
    return Buffer.concat([MAGIC, Buffer.of(SEALED), nonce, body, cipher.final(), cipher.getAuthTag()]);
  }

  /** Seals a pack: octets of messages, of the database and of keys. */
  sealPack(name: string, content: Buffer): Buffer {
    const packs = this.#keys?.packs;
    if (this.#keys === undefined || packs === undefined) return this.seal(name, content);
    const sealed = sealTo(packs.publicKey, contextOf(name, packs, this.#keys), compress(content));
    return Buffer.concat([MAGIC, Buffer.of(SEALED_TO_KEY), sealed]);
  }

  /** Throws {@link BackupProblem} if the object is damaged. */
  open(name: string, object: Buffer): Buffer {
    if (object.length < HEAD_OCTETS || !object.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged(name);
    const packed = this.#unseal(name, object[MAGIC.length], object.subarray(HEAD_OCTETS));
    try {
      return zstdDecompressSync(packed, { maxOutputLength: MAX_OBJECT });
    } catch {
      throw damaged(name);
    }
  }

  #unseal(name: string, kind: number | undefined, body: Buffer): Buffer {
    const keys = this.#keys;
    if (keys === undefined && kind === PLAIN) return checked(name, body);
    if (keys !== undefined && kind === SEALED) return decrypted(keys.index, name, body);
    if (keys?.packs !== undefined && kind === SEALED_TO_KEY) return openedPack(name, body, keys.packs, keys);
    throw damaged(name);
  }
}

function compress(content: Buffer): Buffer {
  // Level 1: mail shrinks by as much as at level 3, in two thirds of the time.
  return zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** The index key is the pre-shared key: the storage, which may know the public key, cannot make packs. */
function contextOf(name: string, { repository }: PackKeys, { index }: ObjectKeys): HpkeContext {
  return {
    info: Buffer.from('mailstead backup pack 1'),
    aad: Buffer.from(name),
    psk: { key: index, id: Buffer.from(repository) },
  };
}

function openedPack(name: string, body: Buffer, packs: PackKeys, keys: ObjectKeys): Buffer {
  if (packs.privateKey === undefined) throw new BackupProblem(`The object ${name} needs an identity to be read.`);
  const packed = openWith(packs.privateKey, contextOf(name, packs, keys), body);
  if (packed === undefined) throw damaged(name);
  return packed;
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
