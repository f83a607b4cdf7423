import { StoreTransaction } from '../transaction.ts';
import type { Command, EndedLogins, WakeUp, WriteHooks } from '../types.ts';
import { asFailure, type Failure, type WriteJob } from '../writer-host.ts';
import { CommandOrder } from './command-order.ts';
import type { PostgresConnection } from './connection.ts';
import { isAway, isPostgresDiskFull, isTransactionFailed } from './errors.ts';
import { settledBy } from './turn.ts';

export interface JobOutcome {
  job: WriteJob;
  result: { ok: true; value: unknown } | { ok: false; failure: Failure };
  wakeUps: WakeUp[];
  ended?: readonly EndedLogins[];
}

export interface CommandSet {
  commands: ReadonlyMap<string, Command<never, unknown>>;
  hooks: WriteHooks;
}

/** Runs the commands of a batch in its transaction. Rejects if the database is away or full: nothing of it is stored. */
export class BatchCommands {
  readonly #connection: PostgresConnection;
  readonly #set: CommandSet;

  constructor(connection: PostgresConnection, set: CommandSet) {
    this.#connection = connection;
    this.#set = set;
  }

  /**
   * Runs those that keep to different accounts beside each other: a reply that one awaits comes with those of the others.
   * Undefined if one failed.
   */
  async withoutSavepoints(jobs: readonly WriteJob[]): Promise<JobOutcome[] | undefined> {
    const order = new CommandOrder();
    const opened: StoreTransaction[] = [];
    let failure: { error: unknown } | undefined;
    const run = async (job: WriteJob, accounts: readonly number[] | undefined): Promise<JobOutcome | undefined> => {
      if (failure !== undefined) return undefined;
      const tx = new StoreTransaction(this.#connection, this.#set.hooks, { beside: accounts !== undefined });
      opened.push(tx);
      try {
        return await this.#outcome(tx, job);
      } catch (error) {
        failure ??= { error };
        return undefined;
      }
    };
    const running = jobs.map((job) => {
      const accounts = this.#accountsOf(job);
      return order.add(accounts, () => run(job, accounts));
    });
    let outcomes: (JobOutcome | undefined)[] = [];
    try {
      outcomes = await settledBy(Promise.all(running), this.#connection);
    } catch (error) {
      failure ??= { error };
    }
    // One that awaits something else must write nothing more.
    for (const tx of opened) tx.revoke();
    if (failure === undefined) return outcomes.filter((one) => one !== undefined);
    await this.#cause(failure.error);
    return undefined;
  }

  #accountsOf({ name, input }: WriteJob): readonly number[] | undefined {
    try {
      return this.#set.commands.get(name)?.keepsTo?.(input as never);
    } catch {
      // Its run reports the error in the input.
      return undefined;
    }
  }

  /** Runs one after the other, each with a savepoint: one that fails leaves the others as they are. */
  async withSavepoints(jobs: readonly WriteJob[]): Promise<JobOutcome[]> {
    const outcomes: JobOutcome[] = [];
    for (const job of jobs) outcomes.push(await this.#oneWithSavepoint(job));
    return outcomes;
  }

  async #oneWithSavepoint(job: WriteJob): Promise<JobOutcome> {
    const connection = this.#connection;
    const tx = new StoreTransaction(connection, this.#set.hooks);
    try {
      await connection.run('SAVEPOINT command', []);
      const outcome = await settledBy(this.#outcome(tx, job), connection);
      await connection.settle();
      await connection.run('RELEASE command', []);
      return outcome;
    } catch (error) {
      tx.revoke();
      const cause = await this.#cause(error);
      await connection.run('ROLLBACK TO command', []);
      return { job, result: { ok: false, failure: asFailure(cause, 'fault') }, wakeUps: [] };
    }
  }

  async #outcome(tx: StoreTransaction, job: WriteJob): Promise<JobOutcome> {
    const command = this.#set.commands.get(job.name);
    if (command === undefined) throw new Error(`unknown command ${job.name}`);
    const value = await command.run(tx, job.input as never, job.stamp);
    if (tx.uncaught !== undefined) throw tx.uncaught;
    return { job, result: { ok: true, value }, wakeUps: tx.revoke(), ended: tx.ended };
  }

  /** Returns the error that made a command fail. Rejects with it if the whole batch fails of it. */
  async #cause(error: unknown): Promise<unknown> {
    const first = await firstFailure(this.#connection, error);
    if (isAway(first) || isPostgresDiskFull(first)) throw first;
    return first;
  }
}

/**
 * The error of the first statement that was sent and failed, else `error`: later statements fail because of it. Where one
 * that was sent failed because of `error`, that is the first.
 */
export async function firstFailure(connection: PostgresConnection, error: unknown): Promise<unknown> {
  return connection.settle().then(
    () => error,
    (failure: unknown) => (isTransactionFailed(failure) ? error : failure),
  );
}
