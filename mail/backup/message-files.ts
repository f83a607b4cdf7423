import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { FileLocator } from '../store/bucket/file-locator.ts';
import { ObjectUnreadable } from '../store/bucket/sealed-object.ts';
import type { DatabaseSnapshot } from './database-snapshot.ts';
import type { PackWriter } from './pack-writer.ts';
import type { Pace } from './pace.ts';
import type { FileEntry, PackRange } from './snapshot-map.ts';

const STEP = 1024 * 1024;
const PAGE = 5_000;

/** The file of a large message, as its row names it. */
export interface MessageFile {
  name: string;
  size: number;
}

/** Files that the snapshot names, of blobs after a number. */
export function* messageFiles(snapshot: DatabaseSnapshot, first = 0): Generator<MessageFile> {
  for (let after = first, more = true; more;) {
    const rows = snapshot.all<{ id: number; name: string; size: number }>(
      `SELECT id, file AS name, size FROM blob WHERE id > ? AND file IS NOT NULL ORDER BY id LIMIT ${PAGE}`,
      after,
    );
    yield* rows;
    after = rows.at(-1)?.id ?? after;
    more = rows.length === PAGE;
  }
}

/** Copies files into packs. A file never changes, so one that is stored is not read again. */
export class FileCopier {
  readonly stored = new Map<string, FileEntry>();
  readonly #locator: FileLocator;
  readonly #packs: PackWriter;
  readonly #pace: Pace;

  constructor(locator: FileLocator, packs: PackWriter, pace: Pace) {
    this.#locator = locator;
    this.#packs = packs;
    this.#pace = pace;
  }

  /** Copies a file of a message. Returns false if it is missing, damaged in the bucket, or shorter than its row says. */
  async copy({ name, size }: MessageFile): Promise<boolean> {
    if (this.stored.has(name)) return true;
    const entry = await this.#locator
      .withFile(name, (path) => this.copyFile(name, path, size))
      .catch((error: unknown) => {
        if (!(error instanceof ObjectUnreadable)) throw error;
      });
    if (entry === undefined) return false;
    this.stored.set(name, entry);
    return true;
  }

  /** Copies `size` octets of a file; all of it without a size. Undefined: it is missing or shorter. */
  async copyFile(name: string, path: string, size = Infinity): Promise<FileEntry | undefined> {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (file === undefined) return undefined;
    try {
      const entry = await this.#copyOctets(name, file, size);
      return size === Infinity || entry.size === size ? entry : undefined;
    } finally {
      await file.close();
    }
  }

  async #copyOctets(name: string, file: FileHandle, size: number): Promise<FileEntry> {
    const hash = createHash('sha256');
    const ranges: PackRange[] = [];
    const buffer = Buffer.allocUnsafe(Math.min(STEP, size));
    let at = 0;
    while (at < size) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), at);
      if (bytesRead === 0) break;
      const octets = buffer.subarray(0, bytesRead);
      hash.update(octets);
      ranges.push(...(await this.#packs.addDivisible(octets)));
      at += bytesRead;
      await this.#pace.took(bytesRead);
    }
    return { name, size: at, hash: hash.digest(), ranges: joined(ranges) };
  }
}

/** Joins ranges that follow each other in a pack. */
function joined(ranges: readonly PackRange[]): PackRange[] {
  const all: PackRange[] = [];
  for (const range of ranges) {
    const last = all.at(-1);
    if (last !== undefined && last.pack === range.pack && last.offset + last.length === range.offset) {
      last.length += range.length;
    } else all.push({ ...range });
  }
  return all;
}
