import { randomBytes } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blobPath } from '../blob/blob.ts';
import type { MessageBucket } from './message-bucket.ts';

/**
 * Finds files of large messages for other processes than the server. Files of its cache are not used: they are not flushed,
 * so after a power cut they may differ from what the bucket has.
 */
export class FileLocator {
  readonly #blobs: string;
  readonly #bucket: MessageBucket | undefined;

  constructor(dataDir: string, bucket: MessageBucket | undefined) {
    this.#blobs = join(dataDir, 'blobs');
    this.#bucket = bucket;
  }

  /** Calls `run` with the path of a file, which exists for the time of the call; where there is none, the path has none. */
  async withFile<T>(file: string, run: (path: string) => Promise<T>): Promise<T> {
    const path = blobPath(this.#blobs, file);
    if (this.#bucket === undefined || (await exists(path))) return run(path);
    const fetched = join(tmpdir(), `mailstead-${randomBytes(8).toString('hex')}`);
    try {
      return await run((await this.#bucket.download(file, fetched)) ? fetched : path);
    } finally {
      await rm(fetched, { force: true });
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
