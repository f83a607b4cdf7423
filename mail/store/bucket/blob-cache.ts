import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A file that was used a moment ago may be about to be opened by another thread. */
const GRACE_MS = 60_000;

const BOOT = 'boot-id';

interface CachedFile {
  size: number;
  /** ms of performance.now(). */
  usedAt: number;
}

/** Copies of messages whose place is a bucket. The least recently used ones go when the limit is exceeded. */
export class BlobCache {
  readonly directory: string;
  readonly #limit: number;
  /** In the order of their last use. */
  readonly #files = new Map<string, CachedFile>();
  #octets = 0;

  /** Drafts of an earlier process are removed. `limit` in octets. */
  constructor(directory: string, limit: number) {
    this.directory = directory;
    this.#limit = limit;
    // Files are not flushed: after a power cut their octets may be others.
    if (!isSameBoot(directory)) rmSync(directory, { recursive: true, force: true });
    for (let i = 0; i < 256; i++) this.#load(i.toString(16).padStart(2, '0'));
    writeFileSync(join(directory, BOOT), bootId(), { mode: 0o600 });
  }

  get octets(): number {
    return this.#octets;
  }

  has(file: string): boolean {
    return this.#files.has(file);
  }

  path(file: string): string {
    return join(this.directory, file.slice(0, 2), file);
  }

  /** Records a file, or its use. */
  used(file: string, size = this.#files.get(file)?.size ?? 0): void {
    this.drop(file);
    this.#files.set(file, { size, usedAt: performance.now() });
    this.#octets += size;
  }

  drop(file: string): void {
    this.#octets -= this.#files.get(file)?.size ?? 0;
    this.#files.delete(file);
  }

  /** Removes files until the limit holds, except for those in use. */
  async evict(isNeeded: (file: string) => boolean): Promise<void> {
    const now = performance.now();
    for (const [file, { usedAt }] of this.#files) {
      if (this.#octets <= this.#limit || now - usedAt < GRACE_MS) return;
      if (isNeeded(file)) continue;
      this.drop(file);
      await rm(this.path(file), { force: true });
    }
  }

  #load(name: string): void {
    const directory = join(this.directory, name);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const file of readdirSync(directory)) {
      if (!/^[0-9a-f]{32}$/.test(file)) rmSync(join(directory, file), { force: true });
      else {
        this.#files.set(file, { size: statSync(join(directory, file)).size, usedAt: Number.NEGATIVE_INFINITY });
        this.#octets += this.#files.get(file)?.size ?? 0;
      }
    }
  }
}

/** Id of this start of the machine; a new one each time where the system has none. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return `process ${process.pid} ${Date.now()}`;
  }
}

function isSameBoot(directory: string): boolean {
  try {
    return readFileSync(join(directory, BOOT), 'utf8') === bootId();
  } catch {
    return false;
  }
}
