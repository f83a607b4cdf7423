import { readFile } from 'node:fs/promises';
import { tlsProblem } from '../../mail/store/engine/postgres/tls.ts';
import type { Settings } from '../../config/settings.ts';

/**
 * URL of the PostgreSQL database with its password; undefined: the embedded database. Rejects with a sentence for the
 * operator.
 */
export async function databaseUrl({ database }: Pick<Settings, 'database'>): Promise<string | undefined> {
  const problem = database && tlsProblem(database.url);
  if (problem !== undefined) throw new Error(problem);
  if (database?.passwordFile === undefined) return database?.url;
  const url = new URL(database.url);
  url.password = encodeURIComponent(await passwordIn(database.passwordFile));
  return url.href;
}

async function passwordIn(file: string): Promise<string> {
  try {
    const [password = ''] = (await readFile(file, 'utf8')).split(/\r?\n/, 1);
    if (password !== '') return password;
  } catch (error) {
    throw new Error(`Cannot read MAILSTEAD_DATABASE_PASSWORD_FILE: ${(error as Error).message}.`, { cause: error });
  }
  throw new Error(`${file} is empty: write the password of the database into its first line.`);
}
