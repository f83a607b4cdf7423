import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { type FileTree, openRandom, type TreeFile } from './file-tree.ts';
import { EXPORT_FILE, MANIFEST_FILE } from './manifest.ts';
import type { RandomReader } from './source-message.ts';
import { checkDiskSpace } from './spool-room.ts';
import { linesOf } from './text-lines.ts';

const MAX_ENTRIES = 2_000_000;
/** Files beside messages, which are looked up by their names: at most two a folder. */
const MAX_BESIDE = 20_000;
const MAX_BESIDE_NAME = 4_096;

/**
 * Reads the files of a zip archive. A file that must be read at any position is unpacked below `spool`. Of the entries only those
 * beside messages are in memory, as a small archive can have millions.
 */
export class ZipTree implements FileTree {
  readonly #path: string;
  readonly #zip: ZipFile;
  readonly #beside: ReadonlyMap<string, Entry>;
  readonly #spool: string;

  private constructor(path: string, zip: ZipFile, beside: ReadonlyMap<string, Entry>, spool: string) {
    this.#path = path;
    this.#zip = zip;
    this.#beside = beside;
    this.#spool = spool;
  }

  /** Throws if the file is no zip archive, is damaged, or has a password. */
  static async open(path: string, spool: string): Promise<ZipTree> {
    const zip = await openZip(path);
    try {
      return new ZipTree(path, zip, await entriesBeside(zip), spool);
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  async *files(): AsyncGenerator<TreeFile> {
    const zip = await openZip(this.#path);
    try {
      for await (const entry of zip.eachEntry()) {
        if (!entry.fileName.endsWith('/')) yield this.#fileOf(entry.fileName, entry);
      }
    } finally {
      zip.close();
    }
  }

  #fileOf(path: string, entry: Entry): TreeFile {
    return {
      path,
      size: entry.uncompressedSize,
      modifiedAt: entry.getLastModDate().getTime(),
      octets: () => this.#octets(entry),
      head: async (length) => {
        const chunks: Buffer[] = [];
        let size = 0;
        for await (const chunk of this.#octets(entry)) {
          chunks.push(chunk);
          if ((size += chunk.length) >= length) break;
        }
        return Buffer.concat(chunks).subarray(0, length);
      },
      random: () => this.#unpacked(entry),
    };
  }

  async *#octets(entry: Entry): AsyncGenerator<Buffer> {
    if (entry.isEncrypted()) throw new Error(`${entry.fileName} has a password: unpack the archive first`);
    const stream = await this.#zip.openReadStreamPromise(entry);
    try {
      for await (const chunk of stream) yield chunk as Buffer;
    } finally {
      stream.destroy();
    }
  }

  async #unpacked(entry: Entry): Promise<RandomReader & AsyncDisposable> {
    await checkDiskSpace(this.#spool, { path: entry.fileName, size: entry.uncompressedSize });
    const directory = await mkdtemp(join(this.#spool, 'import-'));
    const path = join(directory, 'mbox');
    try {
      await pipeline(this.#octets(entry), createWriteStream(path, { mode: 0o600 }));
      const file = await openRandom(path);
      return {
        size: file.size,
        read: (position, length) => file.read(position, length),
        async [Symbol.asyncDispose]() {
          await file[Symbol.asyncDispose]();
          await rm(directory, { recursive: true, force: true });
        },
      };
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  async text(path: string, max: number): Promise<string | undefined> {
    const entry = this.#beside.get(path);
    if (entry === undefined || entry.uncompressedSize > max) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of this.#octets(entry)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  async *lines(path: string, most: number): AsyncGenerator<string> {
    const entry = this.#beside.get(path);
    if (entry !== undefined) yield* linesOf(this.#octets(entry), most);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#zip.close();
    await Promise.resolve();
  }
}

function openZip(path: string): Promise<ZipFile> {
  return openPromise(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true });
}

/** Entries that are no messages and belong to the messages beside them. */
async function entriesBeside(zip: ZipFile): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  let all = 0;
  for await (const entry of zip.eachEntry()) {
    if (++all > MAX_ENTRIES) throw new Error(`the archive has more than ${MAX_ENTRIES} files`);
    if (!isBeside(entry.fileName)) continue;
    if (found.size >= MAX_BESIDE) throw new Error(`the archive has more than ${MAX_BESIDE} folders with a manifest`);
    found.set(entry.fileName, entry);
  }
  return found;
}

function isBeside(path: string): boolean {
  if (path.length > MAX_BESIDE_NAME) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return path === EXPORT_FILE || name === MANIFEST_FILE || name === 'dovecot-keywords';
}
