import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** Flushes a directory, so that the entries in it survive a power cut. */
export async function flushDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}

/** Creates a directory with its parents, and flushes their entries. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const last = dirname(resolve(first));
  for (let at = resolve(path); at !== last && at !== dirname(at);) {
    at = dirname(at);
    await flushDirectory(at);
  }
}

/** Writes a whole file under a temporary name, flushes it and gives it its name: a crash leaves all of it or none. */
export async function writeFlushed(path: string, octets: Uint8Array, mode = 0o600): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    {
      await using file = await open(draft, 'wx', mode);
      await file.writeFile(octets);
      await file.datasync();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  await flushDirectory(dirname(path));
}
