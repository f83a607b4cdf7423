import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a directory with its parents, and flushes the entry of each: files that are flushed in a directory whose own name was
 * not flushed are gone after a power cut.
 */
export function makeDirectorySync(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const last = dirname(resolve(first));
  for (let at = resolve(path); at !== last && at !== dirname(at);) {
    at = dirname(at);
    flushDirectorySync(at);
  }
}

/** Flushes the entries of a directory; not those of one that may not be read, as a parent of the data directory may be. */
export function flushDirectorySync(path: string): void {
  let directory: number;
  try {
    directory = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return;
    throw error;
  }
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
