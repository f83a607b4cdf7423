import { setTimeout as delay } from 'node:timers/promises';
import type { StatementSender } from './connection.ts';
import { DedicatedConnection } from './dedicated.ts';
import { nodeOf } from './url.ts';

/** Key of the advisory lock of the nodes that write: exclusive for a server alone, shared by nodes with a name. */
const WRITERS = 7_205_759_403_792;
/** First key of the lock of a node's name; the second one is a hash of the name. */
const NODE_NAMES = 7_205_759;
/** Time in which a server notices that the connection of an ended process is gone. */
const LOCK_ATTEMPTS = 20;
const LOCK_INTERVAL_MS = 500;

/** A lock of a session, and the error if another one holds it. */
interface SessionLock {
  sql: string;
  params: (string | number)[];
  refusal: () => Error;
}

/**
 * The name of the node is in use: at a start by another node, later mostly by the node's own lost session, which PostgreSQL has
 * not ended yet. Its code makes it a lost connection, so that a node that runs tries again.
 */
class NodeNameHeld extends Error {
  readonly code = 'CONNECTION_HELD';
}

/**
 * Connects and takes the locks of the node, which end with the connection: so an old session of the node has ended when
 * this resolves. Rejects if another node holds them.
 */
export async function connectNode(url: string, attempts = LOCK_ATTEMPTS): Promise<DedicatedConnection> {
  const connection = await DedicatedConnection.open(url);
  const node = nodeOf(url);
  try {
    for (const lock of locksOf(node)) await take(connection.sql, lock, attempts);
    // A node that vanished from the network in the middle of a batch would hold up all others.
    if (node !== undefined) await connection.sql.unsafe(`SET idle_in_transaction_session_timeout = '15s'`);
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function locksOf(node: string | undefined): SessionLock[] {
  if (node === undefined) {
    return [
      {
        sql: 'SELECT pg_try_advisory_lock($1::bigint)::int AS held',
        params: [WRITERS],
        refusal: () =>
          new Error(
            'Another Mailstead writes to this database: a database has one node at a time unless each has a name. Stop the other one, or set MAILSTEAD_NODE on both, then start again.',
          ),
      },
    ];
  }
  return [
    {
      sql: 'SELECT pg_try_advisory_lock_shared($1::bigint)::int AS held',
      params: [WRITERS],
      refusal: () =>
        new Error(
          'A Mailstead without MAILSTEAD_NODE writes to this database. Stop it, or set MAILSTEAD_NODE there too, then start again.',
        ),
    },
    {
      sql: 'SELECT pg_try_advisory_lock($1::int, hashtext($2))::int AS held',
      params: [NODE_NAMES, node],
      refusal: () =>
        new NodeNameHeld(
          `Another node has the name ${node}. Set MAILSTEAD_NODE to a name of its own, then start again.`,
        ),
    },
  ];
}

async function take(
  sql: StatementSender,
  { sql: text, params, refusal }: SessionLock,
  attempts: number,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const [row] = await sql.unsafe(text, params);
    if (row?.['held'] === 1) return;
    if (attempt >= attempts) throw refusal();
    await delay(LOCK_INTERVAL_MS);
  }
}
