import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const VERSION = 1;
const KEY_BYTES = 32;
const ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + ID_BYTES;

/** A secret that cannot be decrypted: wrong key, or altered bytes or row. */
export class SecretUnreadable extends Error {
  override readonly name = 'SecretUnreadable';
}

/**
 * Encrypts secrets that must be readable again (DKIM keys, signing secrets, passwords) for the database. AES-256-GCM
 * under a subkey for each purpose; table and row are authenticated, so that a ciphertext copied to another row does not
 * decrypt. Layout: version (1), key id (4), nonce (12), ciphertext, tag (16).
 */
export class SecretBox {
  readonly #key: Buffer;
  readonly #subkeys = new Map<string, Buffer>();
  readonly #id: Buffer;

  /** `key` is 32 octets, as `openKeyFile` gives it. */
  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) throw new RangeError(`A key has ${KEY_BYTES} octets, not ${key.length}`);
    this.#key = Buffer.from(key);
    this.#id = this.subkey('key id').subarray(0, ID_BYTES);
  }

  /** Derives 32 octets from this key for a purpose, RFC 5869 (HKDF). */
  subkey(purpose: string): Buffer {
    const known = this.#subkeys.get(purpose);
    if (known) return known;
    const made = Buffer.from(hkdfSync('sha256', this.#key, Buffer.alloc(0), `mailstead ${purpose}`, KEY_BYTES));
    this.#subkeys.set(purpose, made);
    return made;
  }

  seal(purpose: string, table: string, id: number | string, plaintext: Uint8Array): Uint8Array {
    const head = Buffer.concat([Buffer.of(VERSION), this.#id]);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.subkey(purpose), nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associated(head, table, id));
    const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([head, nonce, body, cipher.getAuthTag()]);
  }

  /** Throws {@link SecretUnreadable}. */
  open(purpose: string, table: string, id: number | string, sealed: Uint8Array): Buffer {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < HEAD_BYTES + NONCE_BYTES + TAG_BYTES || bytes[0] !== VERSION) {
      throw new SecretUnreadable(
        `The secret of ${table} ${id} is damaged: it does not have the form of a sealed secret`,
      );
    }
    const head = bytes.subarray(0, HEAD_BYTES);
    if (!head.subarray(1).equals(this.#id)) {
      throw new SecretUnreadable(`The secret of ${table} ${id} was sealed with another key than the one in use`);
    }
    const nonce = bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
    const decipher = createDecipheriv('aes-256-gcm', this.subkey(purpose), nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associated(head, table, id)).setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    } catch (cause) {
      throw new SecretUnreadable(`The secret of ${table} ${id} is damaged or belongs to another row`, { cause });
    }
  }

  /** Check value that the database stores, to detect a wrong key at start. */
  checkValue(): Uint8Array {
    return this.seal('check', 'check', 1, Buffer.from('mailstead'));
  }

  /** Reports whether `value` was created with this key. */
  verifyCheck(value: Uint8Array): boolean {
    try {
      return this.open('check', 'check', 1, value).equals(Buffer.from('mailstead'));
    } catch {
      return false;
    }
  }
}

function associated(head: Buffer, table: string, id: number | string): Buffer {
  return Buffer.concat([head, Buffer.from(`${table}\0${id}`)]);
}
