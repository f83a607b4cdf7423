import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RandomReader } from './source-message.ts';
import { linesOf } from './text-lines.ts';

/** A file of a source. */
export interface TreeFile {
  /** Relative to the source, with '/' between levels. */
  path: string;
  size: number;
  /** ms UTC. */
  modifiedAt: number;
  octets(): AsyncIterable<Buffer>;
  /** The first octets. */
  head(length: number): Promise<Buffer>;
  /** Opens it for reading at any position. */
  random(): Promise<RandomReader & AsyncDisposable>;
}

/** The files of a source: a directory, one file, or a zip archive. */
export interface FileTree extends AsyncDisposable {
  files(): AsyncIterable<TreeFile>;
  /** Text of a small file by its path; undefined: it does not exist or is larger. */
  text(path: string, max: number): Promise<string | undefined>;
  /** Lines of a file by its path, none if it does not exist; those of more than `most` octets are left out. */
  lines(path: string, most: number): AsyncIterable<string>;
}

/** Files below a directory, in the order of their names: files first. Symbolic links are not followed. */
export class DirectoryTree implements FileTree {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  files(): AsyncIterable<TreeFile> {
    return this.#below('');
  }

  async *#below(path: string): AsyncGenerator<TreeFile> {
    const entries = await readdir(join(this.#root, path), { withFileTypes: true });
    const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    for (const one of sorted.filter((entry) => entry.isFile())) {
      const file = await fileOf(this.#root, `${path}${one.name}`);
      if (file !== undefined) yield file;
    }
    for (const one of sorted.filter((entry) => entry.isDirectory())) yield* this.#below(`${path}${one.name}/`);
  }

  async text(path: string, max: number): Promise<string | undefined> {
    try {
      const { size } = await lstat(join(this.#root, path));
      return size > max ? undefined : await readFile(join(this.#root, path), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async *lines(path: string, most: number): AsyncGenerator<string> {
    try {
      yield* linesOf(createReadStream(join(this.#root, path)) as AsyncIterable<Buffer>, most);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** A file alone. */
export class SingleFile implements FileTree {
  readonly #path: string;
  readonly #name: string;

  /** `name`: its name where it came from. */
  constructor(path: string, name = basename(path)) {
    this.#path = path;
    this.#name = name;
  }

  async *files(): AsyncGenerator<TreeFile> {
    const file = await fileOf(dirname(this.#path), basename(this.#path));
    if (file !== undefined) yield { ...file, path: this.#name };
  }

  text(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async *lines(): AsyncGenerator<string> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Undefined: it was removed meanwhile, as mail programs rename files of a Maildir. */
async function fileOf(root: string, path: string): Promise<TreeFile | undefined> {
  const full = join(root, path);
  try {
    const { size, mtimeMs } = await lstat(full);
    return {
      path,
      size,
      modifiedAt: Math.round(mtimeMs),
      octets: () => createReadStream(full, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>,
      head: async (length) => {
        await using file = await openRandom(full);
        return file.read(0, length);
      },
      random: () => openRandom(full),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Opens a file of the file system for reading at any position. */
export async function openRandom(path: string): Promise<RandomReader & AsyncDisposable> {
  const handle: FileHandle = await open(path, 'r');
  const { size } = await handle.stat();
  return {
    size,
    async read(position, length) {
      const wanted = Math.max(0, Math.min(length, size - position));
      const buffer = Buffer.allocUnsafe(wanted);
      let got = 0;
      while (got < wanted) {
        const { bytesRead } = await handle.read(buffer, got, wanted - got, position + got);
        if (bytesRead === 0) break;
        got += bytesRead;
      }
      return buffer.subarray(0, got);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}
