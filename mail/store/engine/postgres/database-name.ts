import { isAway } from './errors.ts';
import { ReopenedConnection } from './reopened.ts';

const LIMIT_MS = 10_000;

// A dump that is restored is in another database, or on another server.
const NAME = `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid AS name
  FROM pg_database WHERE datname = current_database()`;

/** Name of the database among all that there are; undefined: the server does not tell it to this user. */
export async function nameOfDatabase(url: string): Promise<string | undefined> {
  const connection = new ReopenedConnection(url, LIMIT_MS);
  try {
    const row = await connection.run((statements) => statements.get<{ name: string }>(NAME, []));
    return row?.name;
  } catch (error) {
    if (isAway(error)) throw error;
    return undefined;
  } finally {
    await connection.close();
  }
}
