import { randomBytes } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

import { SecretBox } from './secrets.ts';

const KEY_BYTES = 32;

/** A problem with the key file: one sentence with the remedy. */
export interface KeyProblem {
  readonly problem: string;
}

/**
 * Opens the key that encrypts secrets at rest. `create` creates a missing file; set it only for a new database, since a
 * new key makes existing secrets unreadable. An existing file is never written.
 */
export async function openKeyFile(path: string, options: { create: boolean }): Promise<SecretBox | KeyProblem> {
  try {
    const found = await readKey(path);
    if (found) return found;
    if (!options.create) return { problem: missing(path) };
    await createKeyFile(path);
    return (await readKey(path)) ?? { problem: `The key file ${path} was deleted right after its creation.` };
  } catch (error) {
    return { problem: `The key file ${path} cannot be used: ${(error as Error).message}.` };
  }
}

function missing(path: string): string {
  return (
    `The key file ${path} is missing, but the database has secrets encrypted with it: ` +
    `restore the file, or set MAILSTEAD_KEY_FILE to its path.`
  );
}

async function readKey(path: string): Promise<SecretBox | KeyProblem | undefined> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (!file) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return { problem: `The key file ${path} is not a regular file.` };
    if ((facts.mode & 0o077) !== 0) {
      return { problem: `The key file ${path} is readable by other users: run "chmod 600 ${path}".` };
    }
    if (facts.size !== KEY_BYTES) {
      return { problem: `The key file ${path} has ${facts.size} octets instead of ${KEY_BYTES}: it is no key.` };
    }
    return new SecretBox(await file.readFile());
  } finally {
    await file.close();
  }
}

/** Writes the key under a temporary name first, so that a crash leaves a complete file or none. */
async function createKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await writeFlushed(draft, randomBytes(KEY_BYTES));
  try {
    await link(draft, path); // unlike rename, fails when somebody else has just made it
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  await flushDirectory(dirname(path));
}

async function writeFlushed(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
