import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type EnvironmentContext, envFileText, environmentOf } from './environment.ts';
import { serviceById } from './queries.ts';

/** Directory of the services' files, below the data directory. */
export function servicesDir(dataDir: string): string {
  return join(dataDir, 'services');
}

export function envFilePath(dataDir: string, service: number): string {
  return join(servicesDir(dataDir), `svc_${service}.env`);
}

let turn: Promise<unknown> = Promise.resolve();

/**
 * Rewrites the environment files of services after a change: atomically, readable by their owner only, one after another, so
 * that an older state never replaces a newer one. Rejects if one cannot be written; the next start writes them all.
 */
export function rewriteEnvFiles(context: EnvironmentContext, services: readonly number[]): Promise<void> {
  if (services.length === 0) return Promise.resolve();
  const mine = turn.then(async () => {
    for (const id of services) await rewrite(context, id);
  });
  turn = mine.catch(() => undefined);
  return mine;
}

async function rewrite(context: EnvironmentContext, id: number): Promise<void> {
  const path = envFilePath(context.settings.dataDir, id);
  const service = await context.store.read(serviceById, { id });
  if (service === undefined) return rm(path, { force: true });
  await mkdir(servicesDir(context.settings.dataDir), { recursive: true, mode: 0o700 });
  await replaceFile(path, envFileText(await environmentOf(context, service)));
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

/** Deletes partial files of a killed process, and files of deleted services: they contain passwords. */
export async function sweepFiles(dataDir: string, services: readonly number[]): Promise<void> {
  const names = await readdir(servicesDir(dataDir)).catch(() => []);
  for (const name of names) {
    const [, id, rest = ''] = /^svc_(\d+)\.(.+)$/.exec(name) ?? [];
    if (id === undefined || (services.includes(Number(id)) && !rest.endsWith('.new'))) continue;
    await rm(join(servicesDir(dataDir), name), { force: true });
  }
}
