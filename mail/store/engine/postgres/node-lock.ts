import { setTimeout as delay } from 'node:timers/promises';
import type { StatementSender } from './connection.ts';
import { DedicatedConnection } from './dedicated.ts';

/** Key of the advisory lock of the node that writes. Any number: it is used for nothing else. */
const LOCK = 7_205_759_403_792;
/** Time in which a server notices that the connection of an ended process is gone. */
const LOCK_ATTEMPTS = 20;
const LOCK_INTERVAL_MS = 500;

/** Connects and takes the lock of the node, which ends with the connection. Rejects if another node holds it. */
export async function connectNode(url: string, attempts = LOCK_ATTEMPTS): Promise<DedicatedConnection> {
  const connection = await DedicatedConnection.open(url);
  try {
    await lock(connection.sql, attempts);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function lock(sql: StatementSender, attempts: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const [row] = await sql.unsafe('SELECT pg_try_advisory_lock($1::bigint)::int AS held', [LOCK]);
    if (row?.['held'] === 1) return;
    if (attempt >= attempts) break;
    await delay(LOCK_INTERVAL_MS);
  }
  throw new Error(
    'Another Mailstead writes to this database: a database has one node at a time. Stop the other one, then start again.',
  );
}
