import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
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

/** A file or directory below a source: its path as text, and as the file system has it. */
interface TreePath {
  text: string;
  octets: Buffer;
}

/**
 * Files below a directory, in the order of their names: files first. Symbolic links are not followed. A name that is not UTF-8, as
 * old servers wrote them, is read as Latin-1: as text alone it would name nothing.
 */
export class DirectoryTree implements FileTree {
  readonly #root: TreePath;
  /** Directories whose text does not lead to them, by that text. */
  readonly #directories = new Map<string, Buffer>();

  constructor(root: string) {
    this.#root = { text: '', octets: Buffer.from(root) };
  }

  files(): AsyncIterable<TreeFile> {
    return this.#below(this.#root);
  }

  async *#below(directory: TreePath): AsyncGenerator<TreeFile> {
    const entries = await readdir(directory.octets, { withFileTypes: true, encoding: 'buffer' });
    const all = entries.map((one) => ({ kind: one, path: pathWithin(directory, one.name) }));
    const sorted = all.toSorted((a, b) => (a.path.text < b.path.text ? -1 : 1));
    for (const { path } of sorted.filter(({ kind }) => kind.isFile())) {
      const file = await fileOf(path.octets, path.text);
      if (file !== undefined) yield file;
    }
    for (const { path } of sorted.filter(({ kind }) => kind.isDirectory())) {
      if (!isUtf8(path.octets)) this.#directories.set(path.text, path.octets);
      yield* this.#below(path);
    }
  }

  async text(path: string, max: number): Promise<string | undefined> {
    const full = this.#pathOf(path);
    try {
      const { size } = await lstat(full);
      return size > max ? undefined : await readFile(full, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async *lines(path: string, most: number): AsyncGenerator<string> {
    try {
      yield* linesOf(createReadStream(this.#pathOf(path)) as AsyncIterable<Buffer>, most);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Path of a file beside mail, whose own name is ASCII. */
  #pathOf(path: string): Buffer {
    const directory = dirname(path);
    const octets = this.#directories.get(directory);
    return octets === undefined
      ? pathWithin(this.#root, Buffer.from(path)).octets
      : pathWithin({ text: directory, octets }, Buffer.from(basename(path))).octets;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function pathWithin({ text, octets }: TreePath, name: Buffer): TreePath {
  const own = name.toString(isUtf8(name) ? 'utf8' : 'latin1');
  return { text: text === '' ? own : `${text}/${own}`, octets: Buffer.concat([octets, SLASH, name]) };
}

const SLASH = Buffer.from('/');

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
    const file = await fileOf(this.#path, this.#name);
    if (file !== undefined) yield file;
  }

  text(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async *lines(): AsyncGenerator<string> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Undefined: it was removed meanwhile, as mail programs rename files of a Maildir. */
async function fileOf(full: string | Buffer, path: string): Promise<TreeFile | undefined> {
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
export async function openRandom(path: string | Buffer): Promise<RandomReader & AsyncDisposable> {
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
