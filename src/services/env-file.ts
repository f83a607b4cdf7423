import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type EnvWorld, envFileText, environmentOf } from './environment.ts';
import { serviceById } from './queries.ts';

/** Where the files of services are, under the data directory. */
export function servicesDir(dataDir: string): string {
  return join(dataDir, 'services');
}

export function envFilePath(dataDir: string, service: number): string {
  return join(servicesDir(dataDir), `svc_${service}.env`);
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * Writes the environment files of services anew, after something that they hold has changed: whole or not at all, for
 * their owner only. One after another, so that an older state never replaces a newer one. Rejects when one cannot be
 * written; the next start writes them all.
 */
export function rewriteEnvFiles(world: EnvWorld, services: readonly number[]): Promise<void> {
  if (services.length === 0) return Promise.resolve();
  const mine = turn.then(async () => {
    for (const id of services) await rewrite(world, id);
  });
  turn = mine.catch(() => undefined);
  return mine;
}

async function rewrite(world: EnvWorld, id: number): Promise<void> {
  const path = envFilePath(world.settings.dataDir, id);
  const service = await world.store.read(serviceById, { id });
  if (service === undefined) return rm(path, { force: true });
  await mkdir(servicesDir(world.settings.dataDir), { recursive: true, mode: 0o700 });
  await replaceFile(path, envFileText(await environmentOf(world, service)));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const next = `${path}.${randomBytes(6).toString('hex')}.new`;
  const file = await open(next, 'wx', 0o600);
  try {
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

/**
 * Removes what a process that was killed could not: files that were not whole yet, and those of services that are gone.
 * They hold passwords.
 */
export async function sweepFiles(dataDir: string, services: readonly number[]): Promise<void> {
  const names = await readdir(servicesDir(dataDir)).catch(() => []);
  for (const name of names) {
    const [, id, rest = ''] = /^svc_(\d+)\.(.+)$/.exec(name) ?? [];
    if (id === undefined || (services.includes(Number(id)) && !rest.endsWith('.new'))) continue;
    await rm(join(servicesDir(dataDir), name), { force: true });
  }
}
