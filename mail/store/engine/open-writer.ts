import { closeWriting, openForWriting } from './connection.ts';
import { migrate } from './migrate.ts';
import { isPostgres } from './postgres/url.ts';
import { copyBeforeUpgrade } from './upgrade-copy.ts';
import { Writer } from './writer.ts';
import type { CommandWriter, WriterHost, WriterParts } from './writer-host.ts';

/**
 * Opens a database, migrates it, and returns its writer. `database`: a path for SQLite, or a URL of PostgreSQL, whose
 * engine is loaded for it only.
 */
export async function openWriter(database: string, parts: WriterParts, host: WriterHost): Promise<CommandWriter> {
  if (isPostgres(database)) return (await import('./postgres/open.ts')).openPostgresWriter(database, parts, host);
  copyBeforeUpgrade(database, parts.migrations, host.upgrading);
  const connection = openForWriting(database);
  migrate(connection, parts.migrations, host.upgrading);
  const writer = new Writer(connection, parts, host);
  return { submit: (jobs) => writer.submit(jobs), close: () => closeWriting(connection) };
}
