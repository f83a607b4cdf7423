import { createHash, type Hash, hash, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { RemoteFiles } from '../bucket/remote-files.ts';
import { flushDirectorySync, makeDirectorySync } from '../engine/make-directory.ts';
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
  /** Files without a committed row yet, which the sweep ignores, with the directory that has them. */
  readonly #uncommitted = new Map<string, string>();
  #remote: RemoteFiles | undefined;

  constructor(dataDir: string) {
    this.#dir = join(dataDir, 'blobs');
    makeDirectorySync(this.#dir);
    let created = false;
    for (let i = 0; i < 256; i++) {
      const path = join(this.#dir, i.toString(16).padStart(2, '0'));
      created = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined || created;
    }
    if (created) flushDirectorySync(this.#dir);
  }

  /** Stores new files in a bucket from now on, and reads files that are not in the directory from there. */
  attach(remote: RemoteFiles): void {
    this.#remote = remote;
  }

  /** The bucket of large messages; undefined: they are in the directory. */
  get remote(): RemoteFiles | undefined {
    return this.#remote;
  }

  /** `inlineLimit`: octets of a message that stays in memory until its commit. */
  create(inlineLimit = INLINE_LIMIT): BlobWriter {
    const remote = this.#remote;
    const upload: FinishFile = async ({ name, handle }, size) => {
      await handle.close();
      await remote?.upload(name, size);
    };
    return this.#writer(remote?.directory ?? this.#dir, remote === undefined ? flushFile : upload, inlineLimit);
  }

  /** A file for the time of one command, which no row will name. */
  createScratch(): BlobWriter {
    return this.#writer(this.#dir, ({ handle }) => handle.close(), INLINE_LIMIT);
  }

  #writer(root: string, finish: FinishFile, inlineLimit: number): BlobWriter {
    const create = async (): Promise<OpenFile> => {
      const name = randomBytes(16).toString('hex');
      this.#uncommitted.set(name, root);
      return { name, handle: await open(blobPath(root, name), 'wx', 0o600), directory: join(root, name.slice(0, 2)) };
    };
    return new BlobWriter({ create, finish }, this, inlineLimit);
  }

  /** Rejects with {@link StoreBusy} if the bucket that has the file does not answer. */
  async read(file: string, start: number, length: number): Promise<Buffer> {
    await using handle = await this.#open(file);
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
    this.#remote?.release(file);
  }

  async remove(file: string): Promise<void> {
    const remote = this.#uncommitted.get(file) === this.#dir ? undefined : this.#remote;
    this.#uncommitted.delete(file);
    try {
      await unlink(blobPath(this.#dir, file));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await remote?.remove(file);
    }
  }

  /**
   * Path of a file that can be opened now; it is fetched from the bucket if it has to be. The path of a file that is
   * lost is returned all the same: opening it fails. Rejects with {@link StoreBusy} if the bucket does not answer.
   */
  async ensure(file: string): Promise<string> {
    const path = blobPath(this.#uncommitted.get(file) ?? this.#dir, file);
    if (this.#remote === undefined || this.#uncommitted.has(file) || (await exists(path))) return path;
    return (await this.#remote.ensure(file)) ?? path;
  }

  /** True if a stored file is in the bucket. */
  async isRemote(file: string): Promise<boolean> {
    return this.#remote !== undefined && !(await exists(blobPath(this.#dir, file)));
  }

  /** Octets of a stored file, without fetching it. Rejects like stat. */
  async size(file: string): Promise<number> {
    try {
      return (await stat(this.path(file))).size;
    } catch (error) {
      const size = await this.#remote?.size(file);
      if (size === undefined) throw error;
      return size;
    }
  }

  async #open(file: string): Promise<FileHandle> {
    try {
      return await open(this.path(file), 'r');
    } catch (error) {
      const path = (error as NodeJS.ErrnoException).code === 'ENOENT' ? await this.#remote?.ensure(file) : undefined;
      if (path === undefined) throw error;
      return open(path, 'r');
    }
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
    return removed + ((await this.#remote?.sweep(named, olderThan)) ?? 0);
  }

  /** Path of a file that is not committed yet, or that no bucket has. */
  path(file: string): string {
    return blobPath(this.#uncommitted.get(file) ?? this.#dir, file);
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

/** Makes a complete file durable, so that a commit may name it, and closes it. */
type FinishFile = (file: OpenFile, size: number) => Promise<void>;

/** Flushes a file with its directory entry. */
async function flushFile({ handle, directory }: OpenFile): Promise<void> {
  await handle.datasync();
  await handle.close();
  await using entry = await open(directory, 'r');
  await entry.sync();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Writes one message as it arrives: in memory up to 64 KiB, then in a file. */
export class BlobWriter {
  readonly #create: () => Promise<OpenFile>;
  readonly #finishFile: FinishFile;
  readonly #files: BlobFiles;
  readonly #inlineLimit: number;
  #chunks: Buffer[] = [];
  #file: Promise<OpenFile> | undefined;
  #writing: Promise<void> | undefined;
  #aborted = false;
  /** SHA-256 of the octets in the file; inline data is hashed in the commit. */
  #hash: Hash | undefined;
  size = 0;

  constructor(
    { create, finish }: { create: () => Promise<OpenFile>; finish: FinishFile },
    files: BlobFiles,
    inlineLimit: number,
  ) {
    this.#create = create;
    this.#finishFile = finish;
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

  /** Completes the message. Its file is durable then, so that a commit may name it. */
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
    const file = await this.#file;
    await this.#finishFile(file, this.size);
    // Octets of its own: a buffer of the pool would cross threads with all of it.
    return { file: file.name, size: this.size, sha256: Uint8Array.from((this.#hash ?? createHash('sha256')).digest()) };
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
