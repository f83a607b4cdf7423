import type postgres from 'postgres';
import { StoreFailure } from '../client.ts';
import { StoreTransaction } from '../transaction.ts';
import { StoreBusy, type WakeUp, type WriteHooks } from '../types.ts';
import { isAway, PostgresConnection } from './connection.ts';
import { settledBy } from './turn.ts';

/** A command that awaits its commit. */
export interface PostgresJob {
  run(tx: StoreTransaction): Promise<unknown>;
  resolve(value: never): void;
  reject(error: Error): void;
}

interface JobOutcome {
  job: PostgresJob;
  result: { ok: true; value: unknown } | { ok: false; error: Error };
  wakeUps: WakeUp[];
}

/** A connection to write with, which holds the lock of the node. */
export interface WriteConnection {
  sql: postgres.ReservedSql;
  numbered: ReadonlyMap<string, string>;
}

export interface PostgresWriterOptions {
  hooks: WriteHooks;
  /** Opens the connection again after it was lost. Rejects when another node has taken the lock. */
  connect(): Promise<WriteConnection>;
  /** Called before the promises of the batch resolve. */
  committed(wakeUps: readonly WakeUp[]): void;
}

const MAX_BATCH_COMMANDS = 128;

/**
 * Runs all queued commands in one transaction of one connection, commits once and answers them, as the writer of SQLite
 * does: commands see each other in one order, and a flush serves many. If one fails, the batch runs again with a
 * savepoint for each.
 */
export class PostgresWriter {
  readonly #options: PostgresWriterOptions;
  readonly #queue: PostgresJob[] = [];
  #connection: WriteConnection | undefined;
  #running: Promise<void> | undefined;

  constructor(connection: WriteConnection, options: PostgresWriterOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  get depth(): number {
    return this.#queue.length;
  }

  submit(job: PostgresJob): void {
    this.#queue.push(job);
    this.#running ??= this.#loop();
  }

  /** Resolves when the queue is empty. */
  async close(): Promise<void> {
    await this.#running;
    this.#connection?.sql.release();
  }

  async #loop(): Promise<void> {
    // Commands of one turn of the event loop are one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) await this.#batch(this.#queue.splice(0, MAX_BATCH_COMMANDS));
    this.#running = undefined;
  }

  async #batch(jobs: readonly PostgresJob[]): Promise<void> {
    try {
      const connection = (this.#connection ??= await this.#options.connect());
      const outcomes =
        (await this.#transaction(connection, jobs, false)) ?? (await this.#transaction(connection, jobs, true)) ?? [];
      this.#options.committed(outcomes.flatMap(({ wakeUps }) => wakeUps));
      for (const { job, result } of outcomes) {
        if (result.ok) job.resolve(result.value as never);
        else job.reject(result.error);
      }
    } catch (error) {
      this.#fail(jobs, error);
    }
  }

  /** Nothing of the batch is known to be committed. */
  #fail(jobs: readonly PostgresJob[], cause: unknown): void {
    if (isAway(cause)) this.#connection = undefined;
    const error = isAway(cause)
      ? new StoreBusy('database', 'the database does not answer', { cause })
      : new StoreFailure(asFailure(cause));
    for (const job of jobs) job.reject(error);
  }

  /** Runs the jobs and commits. Without savepoints undefined if one failed: then all is rolled back. */
  async #transaction(
    { sql, numbered }: WriteConnection,
    jobs: readonly PostgresJob[],
    savepoints: boolean,
  ): Promise<JobOutcome[] | undefined> {
    const connection = new PostgresConnection(sql, numbered);
    const [began] = await sql
      .unsafe('BEGIN; SELECT pg_current_xact_id()::text AS xid')
      .then((results) => results.flat());
    try {
      const outcomes: JobOutcome[] = [];
      for (const job of jobs) {
        const outcome = await this.#one(connection, job, savepoints);
        if (!savepoints && !outcome.result.ok) {
          await sql.unsafe('ROLLBACK');
          return undefined;
        }
        outcomes.push(outcome);
      }
      await this.#commit(sql, String(began?.['id']));
      return outcomes;
    } catch (error) {
      if (!isAway(error)) await sql.unsafe('ROLLBACK');
      throw error;
    }
  }

  /** Commits. After a lost connection asks the database whether it did: the reply may be lost after the commit. */
  async #commit(sql: postgres.ReservedSql, transaction: string): Promise<void> {
    try {
      await sql.unsafe('COMMIT');
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#connection = await this.#options.connect();
      const [row] = await this.#connection.sql.unsafe('SELECT pg_xact_status($1::xid8) AS status', [transaction]);
      if (row?.['status'] !== 'committed') throw error;
    }
  }

  async #one(connection: PostgresConnection, job: PostgresJob, savepoint: boolean): Promise<JobOutcome> {
    const tx = new StoreTransaction(connection, this.#options.hooks);
    try {
      if (savepoint) await connection.run('SAVEPOINT command', []);
      const value = await settledBy(job.run(tx), connection);
      if (tx.uncaught !== undefined) throw tx.uncaught;
      if (savepoint) await connection.run('RELEASE command', []);
      return { job, result: { ok: true, value }, wakeUps: tx.revoke() };
    } catch (error) {
      tx.revoke();
      if (isAway(error)) throw error;
      if (savepoint) await connection.run('ROLLBACK TO command', []);
      return { job, result: { ok: false, error: new StoreFailure(asFailure(error)) }, wakeUps: [] };
    }
  }
}

function asFailure(error: unknown): ConstructorParameters<typeof StoreFailure>[0] {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { message, stack: stack ?? '', reason: 'fault' };
}
