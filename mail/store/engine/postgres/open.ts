import type { WriterParts } from '../open-writer.ts';
import type { CommandWriter, WriterHost } from '../writer-host.ts';
import { numberedTables } from './connection.ts';
import { checkDatabase, migratePostgres } from './migrate.ts';
import { connectNode, type NodeConnection } from './node-lock.ts';
import { PostgresWriter } from './writer.ts';

/** Reports whether a database is on PostgreSQL: its address is a URL, that of SQLite is a path. */
export function isPostgres(database: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(database);
}

/** Opens the database, migrates it, and returns its writer. */
export async function openPostgresWriter(
  url: string,
  { commands, hooks, migrations }: WriterParts,
  host: WriterHost,
): Promise<CommandWriter> {
  const node = await connectNode(url);
  try {
    await checkDatabase(node.sql);
    await migratePostgres(node.sql, migrations);
    const numbered = await numberedTables(node.sql);
    const connect = async (): Promise<NodeConnection> => (await connectNode(url)).use(numbered);
    return new PostgresWriter(node.use(numbered), { commands, hooks, host, connect });
  } catch (error) {
    await node.abort();
    throw error;
  }
}
