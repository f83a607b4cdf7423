import { closeWriting, openForWriting } from './connection.ts';
import { migrate, type Migration } from './migrate.ts';
import { isPostgres, openPostgresWriter } from './postgres/open.ts';
import type { Command, WriteHooks } from './types.ts';
import { copyBeforeUpgrade } from './upgrade-copy.ts';
import { Writer } from './writer.ts';
import type { CommandWriter, WriterHost } from './writer-host.ts';

export interface WriterParts {
  commands: readonly Command<never, unknown>[];
  hooks: WriteHooks;
  migrations: readonly Migration[];
}

/** Opens a database, migrates it, and returns its writer. `database`: a path for SQLite, or a URL of PostgreSQL. */
export function openWriter(
  database: string,
  parts: WriterParts,
  host: WriterHost,
): CommandWriter | Promise<CommandWriter> {
  if (isPostgres(database)) return openPostgresWriter(database, parts, host);
  copyBeforeUpgrade(database, parts.migrations);
  const connection = openForWriting(database);
  migrate(connection, parts.migrations);
  const writer = new Writer(connection, parts, host);
  return { submit: (jobs) => writer.submit(jobs), close: () => closeWriting(connection) };
}
