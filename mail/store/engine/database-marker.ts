import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { flushDirectorySync } from './make-directory.ts';

const MARKER = 'database.json';

/** The database on PostgreSQL whose large messages, keys and text index a data directory has. */
export interface DatabaseMarker {
  /** Its address without user and password, for people. */
  database: string;
}

/** Notes in the data directory that its mail is in PostgreSQL, since without the setting it would look like a new one. */
export function markDatabase(dataDir: string, url: string): void {
  const marker = `${JSON.stringify({ database: labelOf(url) } satisfies DatabaseMarker)}\n`;
  const path = join(dataDir, MARKER);
  if (existsSync(path) && readFileSync(path, 'utf8') === marker) return;
  const draft = `${path}.draft`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, marker);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  flushDirectorySync(dataDir);
}

/** The database that has the mail of a data directory; undefined: the directory has its own, or none yet. */
export function markedDatabase(dataDir: string): DatabaseMarker | undefined {
  const has = (name: string): boolean => existsSync(join(dataDir, name));
  if (has('mailstead.db')) return undefined;
  if (has(MARKER)) return JSON.parse(readFileSync(join(dataDir, MARKER), 'utf8')) as DatabaseMarker;
  // A move by a version that left no marker.
  return has('mailstead.db.moved') ? { database: 'PostgreSQL' } : undefined;
}

/** Removes the marker: the mail is in the data directory. */
export function unmarkDatabase(dataDir: string): void {
  const path = join(dataDir, MARKER);
  if (!existsSync(path)) return;
  rmSync(path);
  flushDirectorySync(dataDir);
}

function labelOf(url: string): string {
  const { protocol, host, pathname, searchParams } = new URL(url);
  return `${protocol}//${searchParams.get('host') ?? host}${pathname}`;
}
