import { createWriteStream } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, rm, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { createDraft, draftOf, finishDraft, ForeignDraft, removeDraft } from './export-draft.ts';

/** Where an export writes its files. */
export interface ExportTarget {
  /** Writes one file; ends when its octets are read. */
  file(path: string, octets: AsyncIterable<Buffer | string>, modifiedAt: number): Promise<void>;
  directory(path: string): Promise<void>;
  /** Completes the export: until then, nothing of it looks complete. */
  finish(): Promise<void>;
  /** Removes what was written. */
  abort(): Promise<void>;
}

/** Writes into a new directory. */
export class DirectoryTarget implements ExportTarget {
  readonly #final: string;
  readonly #path: string;

  private constructor(final: string) {
    this.#final = final;
    this.#path = draftOf(final);
  }

  /** Throws EEXIST if the directory is there: an export never mixes with another one. */
  static async create(path: string): Promise<DirectoryTarget> {
    if (await exists(path)) throw Object.assign(new Error(`${path} exists`), { code: 'EEXIST' });
    const target = new DirectoryTarget(path);
    await removeDraft(target.#path);
    await createDraft(target.#path);
    return target;
  }

  async file(path: string, octets: AsyncIterable<Buffer | string>, modifiedAt: number): Promise<void> {
    const full = join(this.#path, path);
    await pipeline(octets, createWriteStream(full, { flags: 'wx', mode: 0o600 }));
    await utimes(full, modifiedAt / 1000, modifiedAt / 1000);
  }

  async directory(path: string): Promise<void> {
    await mkdir(join(this.#path, path), { recursive: true, mode: 0o700 });
  }

  async finish(): Promise<void> {
    await finishDraft(this.#path, this.#final);
    await using parent = await open(dirname(this.#final), 'r');
    await parent.sync();
  }

  async abort(): Promise<void> {
    await rm(this.#path, { recursive: true, force: true });
  }
}

/** Writes one zip archive. */
export class ZipTarget implements ExportTarget {
  readonly #final: string;
  readonly #partial: string;
  readonly #zip = new ZipFile();
  readonly #written: Promise<void>;

  private constructor(final: string, partial: FileHandle) {
    this.#final = final;
    this.#partial = draftOf(final);
    const output = this.#zip.outputStream as Readable;
    this.#written = pipeline(output, partial.createWriteStream({ flush: true }));
    // Reported by the file that is being written, or by finish().
    this.#written.catch(() => undefined);
  }

  /** Throws EEXIST if the file is there, and ForeignDraft if its draft is: nothing says who wrote that. */
  static async create(path: string): Promise<ZipTarget> {
    if (await exists(path)) throw Object.assign(new Error(`${path} exists`), { code: 'EEXIST' });
    const partial = await open(draftOf(path), 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? new ForeignDraft(draftOf(path)) : error;
    });
    return new ZipTarget(path, partial);
  }

  async file(path: string, octets: AsyncIterable<Buffer | string>, modifiedAt: number): Promise<void> {
    const stream = Readable.from(octets, { objectMode: false });
    this.#zip.addReadStream(stream, path, { mtime: new Date(modifiedAt), mode: 0o100600 });
    // A failure of the output must not leave this waiting for a stream that nobody reads.
    await Promise.race([
      finished(stream),
      this.#written.then(() => Promise.reject(new Error('the archive ended early'))),
    ]);
  }

  directory(): Promise<void> {
    return Promise.resolve();
  }

  async finish(): Promise<void> {
    this.#zip.end();
    await this.#written;
    // Not rename: that would replace a file that another export wrote meanwhile.
    await link(this.#partial, this.#final);
    await rm(this.#partial);
  }

  async abort(): Promise<void> {
    (this.#zip.outputStream as Readable).destroy();
    await this.#written.catch(() => undefined);
    await rm(this.#partial, { force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}
