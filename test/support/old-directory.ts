import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { FolderFacts } from './mail-facts.ts';

const FOLDER = join(import.meta.dirname, '../schemas');

/** A data directory that an earlier version wrote, and what a client read from that version. */
export interface OldDirectory {
  files: Record<string, string>;
  expected: Record<string, FolderFacts>;
}

/** Names of the stored directories: the last migrations of both ledgers. */
export const OLD_DIRECTORIES = readdirSync(FOLDER).flatMap((name) => /^(.+)\.json\.br$/.exec(name)?.[1] ?? []);

/** Writes a stored data directory to `path`. */
export function unpackOldDirectory(name: string, path: string): OldDirectory {
  const text = brotliDecompressSync(readFileSync(join(FOLDER, `${name}.json.br`))).toString();
  const old = JSON.parse(text) as OldDirectory;
  mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const [file, octets] of Object.entries(old.files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true, mode: 0o700 });
    writeFileSync(join(path, file), Buffer.from(octets, 'base64'), { mode: 0o600 });
  }
  return old;
}
