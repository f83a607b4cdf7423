import { createHash, type Hash, hash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreBusy, type Write } from '../engine/types.ts';

/** Maximum octets of a message in its row; larger ones are stored in a file. */
export const INLINE_LIMIT = 64 * 1024;

/** Maximum chunks before they are concatenated. */
const MAX_CHUNKS = 64;

/** Octets of a message before a command inserts its row. */
export type NewBlob = { data: Uint8Array } | NewBlobFile;

/** Octets in a flushed file, and their SHA-256. */
export type NewBlobFile = { file: string; size: number; sha256?: Uint8Array };

/** Inserts a blob with its SHA-256, by which damage of the disk is found later. */
export async function addBlob(tx: Write, blob: NewBlob): Promise<number> {
  if ('data' in blob) {
    const { data } = blob;
    const sha256 = hash('sha256', data, 'buffer');
    const inserted = await tx.run(
      'INSERT INTO blob (size, data, sha256) VALUES (?, ?, ?)',
      data.byteLength,
      data,
      sha256,
    );
    return inserted.id;
  }
  const { size, file, sha256 = null } = blob;
  return (await tx.run('INSERT INTO blob (size, file, sha256) VALUES (?, ?, ?)', size, file, sha256)).id;
}

/**
 * Files of large messages. Named by a random id, never by content: "skip writing if the hash exists" races with
 * collection and loses mail.
 */
export class BlobFiles {
  readonly #dir: string;
  /** Files without a committed row yet, which the sweep ignores. */
  readonly #uncommitted = new Set<string>();

  constructor(dataDir: string) {
    this.#dir = join(dataDir, 'blobs');
    for (let i = 0; i < 256; i++) {
      mkdirSync(join(this.#dir, i.toString(16).padStart(2, '0')), { recursive: true, mode: 0o700 });
    }
  }

  /** `inlineLimit`: octets of a message that stays in memory until its commit. */
  create(inlineLimit = INLINE_LIMIT): BlobWriter {
    return new BlobWriter(
      async () => {
        const name = randomBytes(16).toString('hex');
        this.#uncommitted.add(name);
        return { name, handle: await open(this.path(name), 'wx', 0o600), directory: join(this.#dir, name.slice(0, 2)) };
      },
      this,
      inlineLimit,
    );
  }

  async read(file: string, start: number, length: number): Promise<Buffer> {
    await using handle = await open(this.path(file), 'r');
    const buffer = Buffer.allocUnsafeSlow(length);
    let got = 0;
    while (got < length) {
      const { bytesRead } = await handle.read(buffer, got, length - got, start + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return buffer.subarray(0, got);
  }

  /** Ends the protection from the sweep: the row is committed, or the file is abandoned. */
  release(file: string): void {
    this.#uncommitted.delete(file);
  }

  async remove(file: string): Promise<void> {
    this.#uncommitted.delete(file);
    await unlink(this.path(file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }

  /** Removes orphaned files: a kill between writing a file and committing its row leaves one. */
  async sweep(named: (files: string[]) => Promise<Set<string>>, olderThan: number): Promise<number> {
    let removed = 0;
    for (let i = 0; i < 256; i++) {
      const directory = i.toString(16).padStart(2, '0');
      const files = (await readdir(join(this.#dir, directory))).filter((file) => !this.#uncommitted.has(file));
      if (files.length === 0) continue;
      const known = await named(files);
      for (const file of files.filter((name) => !known.has(name))) {
        const { mtimeMs } = await stat(this.path(file));
        if (mtimeMs >= olderThan) continue;
        await this.remove(file);
        removed++;
      }
    }
    return removed;
  }

  /** Path of a file, for reader threads. */
  path(file: string): string {
    return blobPath(this.#dir, file);
  }

  /** Directory of the files, for reader threads. */
  get directory(): string {
    return this.#dir;
  }
}

/** Path of a blob file. Names are generated here; no outside input becomes a path. */
export function blobPath(directory: string, file: string): string {
  if (!/^[0-9a-f]{32}$/.test(file)) throw new Error('invalid name of a blob file');
  return join(directory, file.slice(0, 2), file);
}

interface OpenFile {
  name: string;
  handle: FileHandle;
  directory: string;
}

/** Writes one message as it arrives: in memory up to 64 KiB, then in a file. */
export class BlobWriter {
  readonly #create: () => Promise<OpenFile>;
  readonly #files: BlobFiles;
  readonly #inlineLimit: number;
  #chunks: Buffer[] = [];
  #file: Promise<OpenFile> | undefined;
  #writing: Promise<void> | undefined;
  #aborted = false;
  /** SHA-256 of the octets in the file; inline data is hashed in the commit. */
  #hash: Hash | undefined;
  size = 0;

  constructor(create: () => Promise<OpenFile>, files: BlobFiles, inlineLimit: number) {
    this.#create = create;
    this.#files = files;
    this.#inlineLimit = inlineLimit;
  }

  /**
   * Returns a promise if the caller must wait before the next chunk. Takes ownership of `chunk`. Rejects with {@link
   * StoreBusy} if the disk is full.
   */
  write(chunk: Buffer): Promise<void> | undefined {
    this.size += chunk.length;
    this.#chunks.push(chunk);
    // Each buffer costs hundreds of octets, and a peer may send single octets.
    if (this.#chunks.length === MAX_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)];
    if (this.#file === undefined && this.size <= this.#inlineLimit) return undefined;
    this.#writing = this.#flush(this.#writing).catch(throwStoreBusy);
    return this.#writing;
  }

  /** Completes the message. A file is flushed with its directory entry, so that a commit may name it. */
  finish(): Promise<NewBlob> {
    return this.#finish().catch(throwStoreBusy);
  }

  async #finish(): Promise<NewBlob> {
    // A copy of exact size: cloning a view clones its whole buffer.
    if (this.#file === undefined) {
      const data = ownBytes(this.#chunks, this.size);
      this.#chunks = [];
      return { data };
    }
    await this.#writing;
    const { name, handle, directory } = await this.#file;
    await handle.datasync();
    await handle.close();
    await using entry = await open(directory, 'r');
    await entry.sync();
    // Octets of its own: a buffer of the pool would cross threads with all of it.
    return { file: name, size: this.size, sha256: Uint8Array.from((this.#hash ?? createHash('sha256')).digest()) };
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#chunks = [];
    void this.#discard();
  }

  async #flush(before: Promise<void> | undefined): Promise<void> {
    await before;
    this.#file ??= this.#create();
    const { handle } = await this.#file;
    const chunks = this.#chunks;
    this.#chunks = [];
    if (chunks.length === 0 || this.#aborted) return;
    const octets = Buffer.concat(chunks);
    this.#hash ??= createHash('sha256');
    this.#hash.update(octets);
    await writeAll(handle, octets);
  }

  async #discard(): Promise<void> {
    try {
      await this.#writing?.catch(() => undefined);
      if (this.#file === undefined) return;
      const { name, handle } = await this.#file;
      await handle.close().catch(() => undefined);
      await this.#files.remove(name);
    } catch {
      // The sweep at the next start removes what could not be removed now.
    }
  }
}

/** A full disk is no fault: the sender can retry. */
function throwStoreBusy(error: unknown): never {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
  throw new StoreBusy('disk-full', 'the disk is full', { cause: error });
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, at);
    at += bytesWritten;
  }
}

function ownBytes(chunks: readonly Buffer[], size: number): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(size));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
