import { openForReading } from './connection.ts';
import type { PostgresReader } from './postgres/reader.ts';
import { isPostgres } from './postgres/url.ts';
import { Reader } from './reader.ts';

/** Connections to PostgreSQL for short reads of a thread. */
const CONNECTIONS = 8;

/**
 * Opens a database for short reads. `database`: a path for SQLite, whose page cache `cacheKib` limits, or a URL of
 * PostgreSQL, whose engine is loaded for it only.
 */
export async function openReader(database: string, cacheKib?: number): Promise<Reader | PostgresReader> {
  if (!isPostgres(database)) return new Reader(openForReading(database, cacheKib));
  const engine = await import('./postgres/reader.ts');
  return new engine.PostgresReader(database, CONNECTIONS);
}
