import { openForReading } from './connection.ts';
import { isPostgres } from './postgres/open.ts';
import { PostgresReader } from './postgres/reader.ts';
import { Reader } from './reader.ts';

/** Connections to PostgreSQL for short reads of a thread. */
const CONNECTIONS = 8;

/**
 * Opens a database for short reads. `database`: a path for SQLite, whose page cache `cacheKib` limits, or a URL of
 * PostgreSQL.
 */
export function openReader(database: string, cacheKib?: number): Reader | PostgresReader {
  return isPostgres(database)
    ? new PostgresReader(database, CONNECTIONS)
    : new Reader(openForReading(database, cacheKib));
}
