import { readdir, readFile, stat, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BackupTarget, StoredObject } from './backup-target.ts';
import { makeDirectory, writeFlushed } from './flush-file.ts';

const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;
/** Older temporary files belong to a backup that was killed. */
const ABANDONED_MS = 24 * 3_600_000;

/** Backups in a directory, one file for each object. */
export class BackupDirectory implements BackupTarget {
  readonly label: string;
  readonly #root: string;
  readonly #made = new Set<string>();

  constructor(root: string) {
    this.#root = root;
    this.label = root;
  }

  async put(name: string, octets: Buffer): Promise<void> {
    const path = join(this.#root, name);
    const directory = dirname(path);
    if (!this.#made.has(directory)) await makeDirectory(directory);
    this.#made.add(directory);
    await writeFlushed(path, octets);
  }

  async get(name: string): Promise<Buffer | undefined> {
    return readFile(join(this.#root, name)).catch(ignoreMissing);
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const directory = prefix.includes('/') ? dirname(`${prefix}x`) : '.';
    const entries = (await readdir(join(this.#root, directory), { withFileTypes: true }).catch(ignoreMissing)) ?? [];
    const found: StoredObject[] = [];
    for (const entry of entries) {
      const name = directory === '.' ? entry.name : `${directory}/${entry.name}`;
      if (!entry.isFile() || !name.startsWith(prefix)) continue;
      const facts = await stat(join(this.#root, name)).catch(ignoreMissing);
      if (facts === undefined) continue;
      if (!TEMPORARY.test(name)) found.push({ name, size: facts.size });
      else if (Date.now() - facts.mtimeMs > ABANDONED_MS) await this.remove(name);
    }
    return found;
  }

  async remove(name: string): Promise<void> {
    await unlink(join(this.#root, name)).catch(ignoreMissing);
  }

  commit(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
