import { randomUUID } from 'node:crypto';
import type { EndedLogins, WakeUp } from '../types.ts';
import { loggedChanges } from './commit-log.ts';
import type { PostgresConnection } from './connection.ts';

/**
 * Frame of the commands of a batch in its transaction: the lock that puts the batches of all nodes in one order, the name of
 * the batch, and the entry for the other nodes.
 */
export class BatchFrame {
  readonly #connection: PostgresConnection;
  readonly #node: string | undefined;
  /** The number of the transaction would not do: after a crash PostgreSQL may give it to another one. */
  readonly #name = randomUUID();

  /** Begins the transaction. `node`: undefined if no other node writes. */
  constructor(connection: PostgresConnection, node: string | undefined) {
    this.#connection = connection;
    this.#node = node;
    connection.send('BEGIN', []);
    // READ COMMITTED: the statements behind it see all batches before this one.
    if (node !== undefined) connection.send(TAKE_TURN, []);
    connection.send(
      'INSERT INTO node_commit (node, batch) VALUES (?, ?) ON CONFLICT (node) DO UPDATE SET batch = excluded.batch',
      [node ?? '', this.#name],
    );
  }

  /** Stores what changed for the other nodes, which are notified by the commit. */
  log(wakeUps: readonly WakeUp[], ended: readonly EndedLogins[]): void {
    if (this.#node === undefined || wakeUps.length + ended.length === 0) return;
    const signals = ended.map((one) => ({ kind: 'revoked', ...one }));
    this.#connection.send(LOG_CHANGES, [this.#node, loggedChanges({ wakeUps, signals })]);
    this.#connection.send(NOTIFY_NODES, [this.#node]);
  }

  /** Reports whether it was committed. Its own session must have ended. */
  async isCommitted(connection: PostgresConnection): Promise<boolean> {
    const row = await connection.get('SELECT batch FROM node_commit WHERE node = ?', [this.#node ?? '']);
    return row?.['batch'] === this.#name;
  }
}

/** Waits until no other node has a batch in progress. Any number: the lock is used for nothing else. */
export const TAKE_TURN = 'SELECT pg_advisory_xact_lock(7205759403794)';
export const LOG_CHANGES = 'INSERT INTO commit_log (node, changes) VALUES (?, ?)';
export const NOTIFY_NODES = `SELECT pg_notify('mailstead_commit', ?)`;
