import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Row, Value } from '../../mail/store/engine/types.ts';
import { changeDatabase, rowsOfDatabase } from './raw-change.ts';
import { databaseOfDirectory } from './test-database.ts';

/** Path or URL of the database of a box. */
export async function databaseOfBox(dataDir: string): Promise<string> {
  return (await databaseOfDirectory(dataDir)) ?? join(dataDir, 'mailstead.db');
}

/** Changes rows of the database of a box that is stopped. Returns the number of changed rows. */
export async function changeBox(dataDir: string, sql: string, ...params: Value[]): Promise<number> {
  return changeDatabase(await databaseOfBox(dataDir), sql, params);
}

/** Rows of the database of a box, which may run. */
export async function rowsOfBox<T extends Row>(dataDir: string, sql: string, ...params: Value[]): Promise<T[]> {
  return (await rowsOfDatabase(await databaseOfBox(dataDir), sql, params)) as T[];
}

/**
 * Dump of the database of a box on PostgreSQL, as its operator makes one; binary columns are in hexadecimal. Empty on
 * SQLite, whose database is in the data directory.
 */
export async function dumpOfBox(dataDir: string): Promise<string> {
  const url = await databaseOfDirectory(dataDir);
  if (url === undefined) return '';
  const { stdout } = await promisify(execFile)('pg_dump', ['--inserts', url], { maxBuffer: 2 ** 30 });
  return stdout;
}
