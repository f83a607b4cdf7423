import { createHash, hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { isUnreadable } from '../blob/unreadable.ts';

/** Damage of a stored message. */
export type BlobProblem =
  /** Its file does not exist. */
  | 'missing'
  /** It has fewer octets than were stored. */
  | 'short'
  /** Its octets are not those that were stored. */
  | 'changed'
  /** The disk or a page of the database cannot be read. */
  | 'unreadable';

const STEP = 1024 * 1024;

/** A stored blob; `data` for one in its row. */
export interface CheckedBlob {
  size: number;
  file: string | null;
  data: Uint8Array | null;
  sha256: Uint8Array | null;
}

/** Calls back with the path of a file. */
type LocateFile = <T>(file: string, run: (path: string) => Promise<T>) => Promise<T>;

/** Reads a blob and compares it with its hash; only with its size if it was stored before hashes were. */
export async function checkBlob(withFile: LocateFile, blob: CheckedBlob): Promise<BlobProblem | undefined> {
  const { size, sha256 } = blob;
  if (blob.file === null) {
    const data = blob.data ?? new Uint8Array(0);
    if (data.byteLength !== size) return 'short';
    return sha256 === null || hash('sha256', data, 'buffer').equals(sha256) ? undefined : 'changed';
  }
  try {
    const found = await withFile(blob.file, (path) => hashOf(path, size));
    if (found === undefined) return 'short';
    return sha256 === null || found.equals(sha256) ? undefined : 'changed';
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable';
  }
}

/** SHA-256 of the first `size` octets of a file; undefined if it has fewer. */
async function hashOf(path: string, size: number): Promise<Buffer | undefined> {
  await using file: FileHandle = await open(path, 'r');
  const digest = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(STEP, Math.max(size, 1)));
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), at);
    if (bytesRead === 0) return undefined;
    digest.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return digest.digest();
}
