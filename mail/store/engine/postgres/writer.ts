import { setTimeout as delay } from 'node:timers/promises';
import { asFailure, type Failure, type WriteJob, type WriterHost } from '../writer-host.ts';
import type { Command, WriteHooks } from '../types.ts';
import { BatchCommands, firstFailure, type JobOutcome } from './batch-commands.ts';
import type { PostgresConnection } from './connection.ts';
import { isAway, isPostgresDiskFull } from './errors.ts';
import type { DedicatedConnection } from './dedicated.ts';
import { BatchFrame } from './batch-frame.ts';
import { endSilence, inTime, PATIENCE, type WriterPatience } from './patience.ts';

export interface PostgresWriterOptions {
  /** Name of the node; undefined: it writes alone. */
  node: string | undefined;
  commands: readonly Command<never, unknown>[];
  hooks: WriteHooks;
  host: WriterHost;
  /** Opens the connection again after it was lost. Rejects when another node has taken the lock. */
  connect(): Promise<DedicatedConnection>;
  patience?: WriterPatience;
}

const MAX_BATCH_COMMANDS = 128;
const ASK_INTERVAL_MS = 250;

/**
 * Runs all queued commands in one transaction of one connection, commits once and answers them, as the writer of SQLite
 * does: commands see each other in one order, and a flush serves many. If one fails, the batch runs again with a
 * savepoint for each.
 */
export class PostgresWriter {
  readonly #options: PostgresWriterOptions;
  readonly #commands: ReadonlyMap<string, Command<never, unknown>>;
  readonly #queue: WriteJob[] = [];
  readonly #slices: WriteJob[] = [];
  #connection: DedicatedConnection | undefined;
  #running: Promise<void> | undefined;
  #dead = false;
  readonly #patience: WriterPatience;

  constructor(connection: DedicatedConnection, options: PostgresWriterOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#patience = options.patience ?? PATIENCE;
    this.#commands = new Map(options.commands.map((command) => [command.name, command]));
  }

  submit(jobs: readonly WriteJob[]): void {
    for (const job of jobs) (job.slice ? this.#slices : this.#queue).push(job);
    this.#running ??= this.#loop();
  }

  /** Resolves when the queue is empty and the connection is closed. */
  async close(): Promise<void> {
    await this.#running;
    await this.#connection?.close();
  }

  async #loop(): Promise<void> {
    // Commands of one turn of the event loop are one batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (!this.#dead && this.#queue.length + this.#slices.length > 0) {
      this.submit(this.#options.host.more());
      const slice = this.#slices.splice(0, 1);
      await this.#batch([...this.#queue.splice(0, MAX_BATCH_COMMANDS), ...slice]);
    }
    this.#running = undefined;
    if (!this.#dead) this.#options.host.idle();
  }

  async #batch(jobs: readonly WriteJob[]): Promise<void> {
    try {
      this.#respond(await this.#watched(jobs));
    } catch (error) {
      const failure = this.#failureOf(error);
      this.#respond(jobs.map((job) => ({ job, result: { ok: false, failure }, wakeUps: [] })));
    }
  }

  /** Runs a batch; closes a connection that is silent, so that its statements fail. */
  async #watched(jobs: readonly WriteJob[]): Promise<readonly JobOutcome[]> {
    const connection = await this.#connected();
    const silence = endSilence(connection, this.#patience.silent);
    try {
      return (
        (await this.#transaction(connection, jobs, false)) ?? (await this.#transaction(connection, jobs, true)) ?? []
      );
    } finally {
      clearInterval(silence);
    }
  }

  async #connected(): Promise<DedicatedConnection> {
    try {
      return (this.#connection ??= await inTime(this.#options.connect(), this.#patience.silent));
    } catch (error) {
      if (!isAway(error)) this.#die(error);
      throw error;
    }
  }

  #respond(outcomes: readonly JobOutcome[]): void {
    if (this.#dead) return;
    this.#options.host.answer(
      outcomes.map(({ job: { id }, result }) => ({ id, ...result })),
      outcomes.flatMap(({ wakeUps }) => wakeUps),
    );
  }

  /** "Later" only if nothing of the batch can be in the database. */
  #failureOf(cause: unknown): Failure {
    if (isPostgresDiskFull(cause)) return asFailure(new Error('the disk of the database is full'), 'disk-full');
    if (!isAway(cause)) return asFailure(cause, 'fault');
    this.#drop();
    return asFailure(new Error('the database does not answer'), 'database');
  }

  #drop(): void {
    void this.#connection?.close();
    this.#connection = undefined;
  }

  #die(error: unknown): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#options.host.fatal(asFailure(error, 'fault'));
  }

  /** Runs the jobs and commits. Without savepoints undefined if one failed: then all is rolled back. */
  async #transaction(
    node: DedicatedConnection,
    jobs: readonly WriteJob[],
    savepoints: boolean,
  ): Promise<JobOutcome[] | undefined> {
    const connection = node.statements;
    const batch = new BatchFrame(connection, this.#options.node);
    try {
      const run = new BatchCommands(connection, { commands: this.#commands, hooks: this.#options.hooks });
      const outcomes = await (savepoints ? run.withSavepoints(jobs) : run.withoutSavepoints(jobs));
      if (outcomes === undefined) {
        await rollBack(connection);
        return undefined;
      }
      batch.log(
        outcomes.flatMap(({ wakeUps }) => wakeUps),
        outcomes.flatMap(({ ended = [] }) => ended),
      );
      if (await this.#commit(connection, batch)) return outcomes;
      const failure = await firstFailure(connection, new Error('PostgreSQL rolled a batch back'));
      if (savepoints) throw failure;
      return undefined;
    } catch (error) {
      if (!isAway(error) && !(error instanceof CommitUnknown)) await rollBack(connection);
      throw error;
    }
  }

  /**
   * Commits; returns false if a statement that was sent has failed, and all was rolled back. After a lost connection asks
   * the database whether it committed: the reply may be lost after the commit.
   */
  async #commit(connection: PostgresConnection, batch: BatchFrame): Promise<boolean> {
    try {
      return await connection.commit();
    } catch (error) {
      if (!isAway(error)) throw error;
      this.#drop();
      if (!(await this.#isCommitted(batch))) throw error;
      return true;
    }
  }

  /**
   * Reports whether a batch was committed, as soon as the database answers. Its session has ended then, since the lock of
   * the node was free. Rejects with {@link CommitUnknown} if the database does not answer.
   */
  async #isCommitted(batch: BatchFrame): Promise<boolean> {
    const until = performance.now() + this.#patience.unknown;
    for (;;) {
      try {
        return await this.#ask(batch);
      } catch (error) {
        if (!isAway(error)) throw new CommitUnknown(error);
        this.#drop();
      }
      if (performance.now() > until) throw new CommitUnknown(undefined);
      await delay(ASK_INTERVAL_MS);
    }
  }

  async #ask(batch: BatchFrame): Promise<boolean> {
    const connection = await this.#connected();
    const silence = endSilence(connection, this.#patience.silent);
    try {
      return await batch.isCommitted(connection.statements);
    } finally {
      clearInterval(silence);
    }
  }
}

async function rollBack(connection: PostgresConnection): Promise<void> {
  await firstFailure(connection, undefined);
  await connection.run('ROLLBACK', []);
}

/** The database did not answer in time whether a batch was committed: its mail may be stored. */
class CommitUnknown extends Error {
  constructor(cause: unknown) {
    super('the connection was lost during a commit, and the database did not report its result in time', { cause });
  }
}
