import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { S3Stream } from './s3-client.ts';

const VERSION = 1;
const NONCE_OCTETS = 12;
const TAG_OCTETS = 16;
const HEAD_OCTETS = 1 + NONCE_OCTETS;

/** Octets that an object has more than its message. */
export const SEAL_OCTETS = HEAD_OCTETS + TAG_OCTETS;

/** An object that was changed, cut off, or sealed with another key. */
export class ObjectUnreadable extends Error {
  override readonly name = 'ObjectUnreadable';
  /** As of a file whose octets are wrong. */
  readonly code = 'EBADMSG';
}

/**
 * Encrypts a file as an object: version (1), nonce (12), ciphertext, tag (16); AES-256-GCM. The name is authenticated, so
 * that an object that is stored under another name does not open. Reads the file once for the hash, then for each attempt.
 */
export async function sealFile(path: string, name: string, size: number, key: Uint8Array): Promise<S3Stream> {
  const nonce = randomBytes(NONCE_OCTETS);
  const open = (): Readable => Readable.from(sealedOctets(path, name, key, nonce));
  const digest = createHash('sha256');
  let octets = 0;
  for await (const chunk of open() as AsyncIterable<Buffer>) {
    digest.update(chunk);
    octets += chunk.length;
  }
  if (octets !== size + SEAL_OCTETS) throw new Error(`the file has ${octets - SEAL_OCTETS} of ${size} octets`);
  return { size: octets, sha256: digest.digest('hex'), open };
}

async function* sealedOctets(path: string, name: string, key: Uint8Array, nonce: Buffer): AsyncGenerator<Buffer> {
  const head = Buffer.concat([Buffer.of(VERSION), nonce]);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_OCTETS });
  cipher.setAAD(associated(head, name));
  yield head;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) yield cipher.update(chunk);
  yield Buffer.concat([cipher.final(), cipher.getAuthTag()]);
}

/** Octets of an object: twice what a JMAP upload may have, the largest thing that is stored. */
const MAX_OBJECT = 1_000_000_000;

/** Decrypts an object of up to `most` octets into a file; what it writes counts only when this resolves. Throws {@link ObjectUnreadable}. */
export async function openSealed(
  source: AsyncIterable<Buffer>,
  name: string,
  key: Uint8Array,
  file: FileHandle,
  most = MAX_OBJECT,
): Promise<void> {
  const octets = new HeldBack(source, most);
  const head = await octets.take(HEAD_OCTETS);
  if (head[0] !== VERSION) throw new ObjectUnreadable('it does not have the form of a sealed message');
  const decipher = createDecipheriv('aes-256-gcm', key, head.subarray(1), { authTagLength: TAG_OCTETS });
  decipher.setAAD(associated(head, name));
  for await (const chunk of octets.untilTag()) await file.appendFile(decipher.update(chunk));
  decipher.setAuthTag(octets.rest);
  try {
    decipher.final();
  } catch (cause) {
    throw new ObjectUnreadable('it was changed, or sealed with another key', { cause });
  }
}

function associated(head: Buffer, name: string): Buffer {
  return Buffer.concat([head, Buffer.from(`message ${name}`)]);
}

/** Reads a stream, and holds its last octets back: they are the tag. */
class HeldBack {
  readonly #source: AsyncIterator<Buffer>;
  readonly #most: number;
  #received = 0;
  rest = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>, most: number) {
    this.#source = source[Symbol.asyncIterator]();
    this.#most = most;
  }

  /** Ends a body that is longer than any object: it would fill the disk. */
  async #next(): Promise<IteratorResult<Buffer>> {
    const next = await this.#source.next();
    if (next.done !== true) this.#received += next.value.length;
    if (this.#received <= this.#most) return next;
    await this.#source.return?.();
    throw new ObjectUnreadable(`it has more than ${this.#most} octets`);
  }

  async take(count: number): Promise<Buffer> {
    while (this.rest.length < count) {
      const next = await this.#next();
      if (next.done === true) throw new ObjectUnreadable('it is cut off');
      this.rest = Buffer.concat([this.rest, next.value]);
    }
    const taken = this.rest.subarray(0, count);
    this.rest = this.rest.subarray(count);
    return taken;
  }

  async *untilTag(): AsyncGenerator<Buffer> {
    for (let next = await this.#next(); next.done !== true; next = await this.#next()) {
      const all = Buffer.concat([this.rest, next.value]);
      const end = Math.max(0, all.length - TAG_OCTETS);
      if (end > 0) yield all.subarray(0, end);
      this.rest = all.subarray(end);
    }
    if (this.rest.length > TAG_OCTETS) {
      const end = this.rest.length - TAG_OCTETS;
      yield this.rest.subarray(0, end);
      this.rest = this.rest.subarray(end);
    }
    if (this.rest.length < TAG_OCTETS) throw new ObjectUnreadable('it is cut off');
  }
}
