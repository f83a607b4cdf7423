import { randomBytes } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

import { SecretBox } from './secrets.ts';

const KEY_BYTES = 32;

/** One sentence that says what is wrong and what to do. */
export interface KeyProblem {
  readonly problem: string;
}

/**
 * Opens the key that seals secrets at rest. With `create` a missing file is made; pass it only when the database is new,
 * for a new key beside an old database would leave its secrets closed for ever. An existing file is never written.
 */
export async function openKeyFile(path: string, options: { create: boolean }): Promise<SecretBox | KeyProblem> {
  try {
    const found = await readKey(path);
    if (found) return found;
    if (!options.create) return { problem: missing(path) };
    await makeKey(path);
    return (await readKey(path)) ?? { problem: `The key file ${path} went away right after it was made.` };
  } catch (error) {
    return { problem: `The key file ${path} cannot be used: ${(error as Error).message}.` };
  }
}

function missing(path: string): string {
  return (
    `The key file ${path} is missing, but the database holds secrets sealed with it: ` +
    `put the file back, or name its place with MAILSTEAD_KEY_FILE.`
  );
}

async function readKey(path: string): Promise<SecretBox | KeyProblem | undefined> {
  const file = await open(path, 'r').catch(absent);
  if (!file) return undefined;
  try {
    const facts = await file.stat();
    if (!facts.isFile()) return { problem: `The key file ${path} is not a regular file.` };
    if ((facts.mode & 0o077) !== 0) {
      return { problem: `The key file ${path} can be read by others: run "chmod 600 ${path}".` };
    }
    if (facts.size !== KEY_BYTES) {
      return { problem: `The key file ${path} has ${facts.size} octets instead of ${KEY_BYTES}: it is not a key.` };
    }
    return new SecretBox(await file.readFile());
  } finally {
    await file.close();
  }
}

/** Writes a whole key under another name first, so that a crash leaves a whole file or none. */
async function makeKey(path: string): Promise<void> {
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

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
