import type { CommandWriter, WriterHost, WriterParts } from '../writer-host.ts';
import { numberedTables } from './connection.ts';
import { checkDatabase, migratePostgres } from './migrate.ts';
import type { DedicatedConnection } from './dedicated.ts';
import { connectNode } from './node-lock.ts';
import { nodeOf } from './url.ts';
import { PostgresWriter } from './writer.ts';

/** Opens the database, migrates it, and returns its writer. */
export async function openPostgresWriter(
  url: string,
  { commands, hooks, migrations }: WriterParts,
  host: WriterHost,
): Promise<CommandWriter> {
  const node = await connectNode(url);
  try {
    await checkDatabase(node.sql);
    await migratePostgres(node.sql, migrations, host.upgrading);
    const numbered = await numberedTables(node.sql);
    const connect = async (): Promise<DedicatedConnection> => (await connectNode(url)).use(numbered);
    return new PostgresWriter(node.use(numbered), { node: nodeOf(url), commands, hooks, host, connect });
  } catch (error) {
    await node.close();
    throw error;
  }
}
