import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { BackupTarget, StoredObject } from './backup-target.ts';
import { BackupProblem } from './backup-error.ts';
import { flushDirectory, makeDirectory } from './flush-file.ts';

const MAGIC = Buffer.from('mailstead backup file 1\n');
const MAX_NAME = 200;

/** Position of the octets of an object. */
interface Extent {
  at: number;
  size: number;
}

/**
 * One backup in one file: each object as the length of its name (2), the length of its octets (8), name and octets. A new
 * backup replaces the file when it is whole.
 */
export class BackupFile implements BackupTarget {
  readonly label: string;
  readonly #path: string;
  #reading: { file: FileHandle; objects: Map<string, Extent> } | undefined;
  #draft: { file: FileHandle; path: string; at: number; objects: Map<string, Extent> } | undefined;

  constructor(path: string) {
    this.#path = path;
    this.label = path;
  }

  /** Starts a new file: nothing of the existing one is used. */
  async replace(): Promise<void> {
    await this.#refuseForeign();
    await makeDirectory(dirname(this.#path));
    const path = `${this.#path}.${randomBytes(6).toString('hex')}.tmp`;
    const file = await open(path, 'wx+', 0o600);
    this.#draft = { file, path, at: 0, objects: new Map() };
    await this.#append(MAGIC);
  }

  async put(name: string, octets: Buffer): Promise<void> {
    if (this.#draft === undefined) await this.replace();
    const head = Buffer.alloc(10 + Buffer.byteLength(name));
    head.writeUInt16BE(Buffer.byteLength(name), 0);
    head.writeBigUInt64BE(BigInt(octets.length), 2);
    head.write(name, 10, 'latin1');
    await this.#append(head);
    this.#draft?.objects.set(name, { at: this.#draft.at, size: octets.length });
    await this.#append(octets);
  }

  async get(name: string): Promise<Buffer | undefined> {
    const source = await this.#source();
    const found = source?.objects.get(name);
    if (source === undefined || found === undefined) return undefined;
    const octets = Buffer.allocUnsafe(found.size);
    const { bytesRead } = await source.file.read(octets, 0, found.size, found.at);
    return octets.subarray(0, bytesRead);
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const objects = (await this.#source())?.objects ?? new Map<string, Extent>();
    return [...objects].filter(([name]) => name.startsWith(prefix)).map(([name, { size }]) => ({ name, size }));
  }

  /** Does nothing: the file is replaced as a whole. */
  remove(): Promise<void> {
    return Promise.resolve();
  }

  async commit(): Promise<void> {
    if (this.#draft === undefined) return;
    const { file, path } = this.#draft;
    await file.datasync();
    await rename(path, this.#path);
    await file.close();
    this.#draft = undefined;
    await flushDirectory(dirname(this.#path));
  }

  async close(): Promise<void> {
    await this.#reading?.file.close();
    this.#reading = undefined;
    if (this.#draft === undefined) return;
    await this.#draft.file.close();
    await unlink(this.#draft.path);
    this.#draft = undefined;
  }

  /** Throws if the file exists, is not empty and is no backup: a mistyped path must not cost the file that it names. */
  async #refuseForeign(): Promise<void> {
    const file = await openExisting(this.#path);
    if (file === undefined) return;
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
      if (bytesRead > 0 && !buffer.equals(MAGIC)) throw new BackupProblem(notABackup(this.#path));
    } finally {
      await file.close();
    }
  }

  async #append(octets: Buffer): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined) return;
    for (let done = 0; done < octets.length;) {
      const { bytesWritten } = await draft.file.write(octets, done, octets.length - done, draft.at + done);
      done += bytesWritten;
    }
    draft.at += octets.length;
  }

  async #source(): Promise<{ file: FileHandle; objects: Map<string, Extent> } | undefined> {
    if (this.#draft !== undefined) return this.#draft;
    if (this.#reading !== undefined) return this.#reading;
    const file = await openExisting(this.#path);
    if (file === undefined) return undefined;
    this.#reading = { file, objects: new Map() };
    this.#reading.objects = await indexOf(file, this.#path);
    return this.#reading;
  }
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}

/** Reads the positions of all objects. */
async function indexOf(file: FileHandle, path: string): Promise<Map<string, Extent>> {
  const { size } = await file.stat();
  const objects = new Map<string, Extent>();
  const head = Buffer.alloc(10 + MAX_NAME);
  await file.read(head, 0, MAGIC.length, 0);
  if (!head.subarray(0, MAGIC.length).equals(MAGIC)) throw new BackupProblem(notABackup(path));
  for (let at = MAGIC.length; at < size;) {
    const { bytesRead } = await file.read(head, 0, head.length, at);
    const nameSize = head.readUInt16BE(0);
    const octets = Number(head.readBigUInt64BE(2));
    const start = at + 10 + nameSize;
    if (bytesRead < 10 + nameSize || nameSize > MAX_NAME || start + octets > size) {
      throw new BackupProblem(`${path} is damaged or cut off at octet ${at}. Use another copy of the backup.`);
    }
    objects.set(head.toString('latin1', 10, 10 + nameSize), { at: start, size: octets });
    at = start + octets;
  }
  return objects;
}

function notABackup(path: string): string {
  return `${path} is not a backup of Mailstead, or its first octets are damaged. Name another file.`;
}
