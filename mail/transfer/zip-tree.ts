import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { type FileTree, openRandom, type TreeFile } from './file-tree.ts';
import type { RandomReader } from './source-message.ts';

/** Files of an archive: their names are held in memory. */
const MAX_ENTRIES = 2_000_000;

/** Reads the files of a zip archive. A file that must be read at any position is unpacked below `spool`. */
export class ZipTree implements FileTree {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #spool: string;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, spool: string) {
    this.#zip = zip;
    this.#entries = entries;
    this.#spool = spool;
  }

  /** Throws if the file is no zip archive, is damaged, or has a password. */
  static async open(path: string, spool: string): Promise<ZipTree> {
    const zip = await openPromise(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true });
    const entries = new Map<string, Entry>();
    for await (const entry of zip.eachEntry()) {
      if (entries.size >= MAX_ENTRIES) throw new Error(`the archive has more than ${MAX_ENTRIES} files`);
      if (!entry.fileName.endsWith('/')) entries.set(entry.fileName, entry);
    }
    return new ZipTree(zip, entries, spool);
  }

  async *files(): AsyncGenerator<TreeFile> {
    for (const [path, entry] of this.#entries) yield this.#fileOf(path, entry);
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
    const entry = this.#entries.get(path);
    if (entry === undefined || entry.uncompressedSize > max) return undefined;
    const chunks: Buffer[] = [];
    for await (const chunk of this.#octets(entry)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#zip.close();
    await Promise.resolve();
  }
}
