import { openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CACHE_DIRECTORY } from '../bucket/cache-directory.ts';
import { blobPath } from './blob.ts';
import { fetchBlob } from './blob-request.ts';

/**
 * Opens a blob file on a thread that may block: from the directory of blob files, or from the cache beside it, into which
 * the main thread fetches it. Throws ENOENT if there is none.
 */
export function openBlobFile(blobs: string, file: string): number {
  const path = blobPath(blobs, file);
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const cached = blobPath(join(dirname(blobs), CACHE_DIRECTORY), file);
  try {
    return openSync(cached, 'r');
  } catch (error) {
    if (!isMissing(error) || !fetchBlob(file)) throw error;
  }
  return openSync(cached, 'r');
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
