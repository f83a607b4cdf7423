import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, Meter } from '../../log.ts';
import { StoreBusy } from '../engine/types.ts';
import { BlobCache } from './blob-cache.ts';
import { CACHE_DIRECTORY } from './cache-directory.ts';
import type { MessageBucket } from './message-bucket.ts';
import { S3Failure } from './s3-client.ts';

const OWNER_FILE = 'bucket.json';

/** The bucket that has messages of a data directory. */
export interface BucketOwner {
  /** Random id of the data directory; not in backups, so that a restored copy is another one. */
  id: string;
  bucket: string;
}

/** The bucket that a data directory uses; undefined: none. */
export function bucketOf(dataDir: string): BucketOwner | undefined {
  const path = join(dataDir, OWNER_FILE);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as BucketOwner) : undefined;
}

/** State of the bucket since the last request. */
export interface BucketState {
  label: string;
  /** Reason of the last failure; undefined: it works. */
  problem: string | undefined;
  cachedOctets: number;
}

export interface RemoteFilesOptions {
  bucket: MessageBucket;
  dataDir: string;
  /** Id that all nodes of a database own the bucket by; left out: the data directory has its own. */
  owner?: string;
  /** Octets of the cache. */
  cacheLimit: number;
  log: Log;
  meter: Meter;
}

/**
 * Files of large messages in a bucket, with a cache on the disk. A message is stored in the bucket before a commit names it,
 * and removed after the commit that deletes its row.
 */
export class RemoteFiles {
  readonly #options: RemoteFilesOptions;
  readonly #cache: BlobCache;
  readonly #owner: BucketOwner;
  readonly #fetching = new Map<string, Promise<string | undefined>>();
  /** Files that must stay in the cache: they are not committed yet. */
  readonly #pinned = new Set<string>();
  #isOwned = false;
  #problem: string | undefined;

  private constructor(options: RemoteFilesOptions, owner: BucketOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#cache = new BlobCache(join(options.dataDir, CACHE_DIRECTORY), options.cacheLimit);
  }

  /** Opens the cache and checks the bucket. A bucket that does not answer is checked before its first use. */
  static async open(options: RemoteFilesOptions): Promise<RemoteFiles> {
    const { label } = options.bucket;
    const known = bucketOf(options.dataDir);
    if (known !== undefined && known.bucket !== label) throw new BucketMismatch(otherBucket(known.bucket, label));
    const owner = { id: options.owner ?? known?.id ?? randomBytes(16).toString('hex'), bucket: label };
    const files = new RemoteFiles(options, owner);
    await files.#attempt(() => files.#requireOwner()).catch(rethrowUnlessBusy);
    return files;
  }

  get directory(): string {
    return this.#cache.directory;
  }

  get state(): BucketState {
    return { label: this.#options.bucket.label, problem: this.#problem, cachedOctets: this.#cache.octets };
  }

  /** Stores a new file of the cache in the bucket. Throws {@link StoreBusy} if that failed. */
  async upload(file: string, size: number): Promise<void> {
    this.#pinned.add(file);
    await this.#attempt(async () => {
      await this.#requireOwner();
      await this.#options.bucket.put(file, this.#cache.path(file), size);
    });
    this.#cache.used(file, size);
    this.#options.meter.count('blob_uploads_total');
    await this.#trim();
  }

  /** The row of a file is committed, or the file is abandoned. */
  release(file: string): void {
    this.#pinned.delete(file);
  }

  /** Path of a file, which is fetched if it is not cached. Undefined: the bucket does not have it. */
  async ensure(file: string): Promise<string | undefined> {
    if (this.#cache.has(file) || this.#pinned.has(file)) {
      this.#cache.used(file);
      return this.#cache.path(file);
    }
    const running = this.#fetching.get(file);
    if (running !== undefined) return running;
    const fetching = this.#download(file).finally(() => this.#fetching.delete(file));
    this.#fetching.set(file, fetching);
    return fetching;
  }

  /** Octets of a file in the bucket; undefined: it does not have it. */
  async size(file: string): Promise<number | undefined> {
    return this.#attempt(() => this.#options.bucket.size(file));
  }

  /** Removes a file. What a failing bucket keeps is swept later. */
  async remove(file: string): Promise<void> {
    this.#pinned.delete(file);
    this.#cache.drop(file);
    await rm(this.#cache.path(file), { force: true });
    await this.#attempt(async () => {
      await this.#requireOwner();
      await this.#options.bucket.remove(file);
    }).catch(rethrowUnlessBusy);
  }

  /** Removes objects that no row names and that are older. Returns their number. */
  async sweep(named: (files: string[]) => Promise<Set<string>>, olderThan: number): Promise<number> {
    let removed = 0;
    const { bucket } = this.#options;
    await this.#attempt(async () => {
      await this.#requireOwner();
      for await (const page of bucket.list()) {
        const old = page.filter(({ file, at }) => at < olderThan && !this.#pinned.has(file)).map(({ file }) => file);
        const known = old.length === 0 ? new Set<string>() : await named(old);
        for (const file of old.filter((one) => !known.has(one))) {
          await bucket.remove(file);
          removed++;
        }
      }
    }).catch(rethrowUnlessBusy);
    return removed;
  }

  async #download(file: string): Promise<string | undefined> {
    const path = this.#cache.path(file);
    const found = await this.#attempt(() => this.#options.bucket.download(file, path));
    if (!found) return undefined;
    await using handle = await open(path, 'r');
    this.#cache.used(file, (await handle.stat()).size);
    this.#options.meter.count('blob_fetches_total');
    await this.#trim();
    return path;
  }

  async #trim(): Promise<void> {
    await this.#cache.evict((file) => this.#pinned.has(file));
    this.#options.meter.gauge('blob_cache_bytes', this.#cache.octets);
  }

  /** Claims the prefix once. Two data directories in one prefix would sweep each other's messages. */
  async #requireOwner(): Promise<void> {
    if (this.#isOwned) return;
    const { bucket } = this.#options;
    const owner = await bucket.owner();
    if (owner === undefined) {
      // The own id is stored first: after a crash, a claim without it would look like that of another data directory.
      await writeOwner(this.#options.dataDir, this.#owner);
      await bucket.setOwner(this.#owner.id);
    } else if (owner !== this.#owner.id) throw new BucketMismatch(ownedByOther(bucket.label));
    this.#isOwned = true;
  }

  /** Runs requests; a failure of the bucket becomes {@link StoreBusy}, and is logged when it begins and ends. */
  async #attempt<T>(run: () => Promise<T>): Promise<T> {
    const { log, meter, bucket } = this.#options;
    try {
      const value = await run();
      if (this.#problem !== undefined) log.warn({ bucket: bucket.label }, 'the bucket of large messages works again');
      this.#problem = undefined;
      meter.gauge('blob_bucket_up', 1);
      return value;
    } catch (error) {
      if (!(error instanceof S3Failure)) throw error;
      const text = { bucket: bucket.label, reason: error.message };
      if (this.#problem === undefined) log.error(text, 'the bucket of large messages fails: large mail is deferred');
      this.#problem = error.message;
      meter.gauge('blob_bucket_up', 0);
      meter.count('blob_bucket_failures_total');
      throw new StoreBusy('bucket', `${bucket.label} ${error.message}`, { cause: error });
    }
  }
}

/** The bucket of the settings is not that of the data directory, or the other way round. The sentence says what to do. */
export class BucketMismatch extends Error {
  override readonly name = 'BucketMismatch';
}

function otherBucket(known: string, given: string): string {
  return `Large messages of this data directory are in ${known}, and MAILSTEAD_BLOBS names ${given}: set it to ${known}. To move them, back up, and restore to a new data directory.`;
}

function ownedByOther(label: string): string {
  return `${label} belongs to another data directory, whose messages would be removed: set MAILSTEAD_BLOBS to another prefix. If that directory no longer exists, delete the object "owner" there.`;
}

function rethrowUnlessBusy(error: unknown): void {
  if (!(error instanceof StoreBusy)) throw error;
}

async function writeOwner(dataDir: string, owner: BucketOwner): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, OWNER_FILE);
  const draft = `${path}.tmp`;
  {
    await using file = await open(draft, 'w', 0o600);
    await file.writeFile(JSON.stringify(owner));
    await file.sync();
  }
  await rename(draft, path);
  await using directory = await open(dataDir, 'r');
  await directory.sync();
}
