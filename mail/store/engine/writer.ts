import { type DatabaseConnection, SQLITE, sqliteCode } from './connection.ts';
import { StoreTransaction } from './transaction.ts';
import type { Command, WakeUp, WriteHooks } from './types.ts';
import { asFailure, type Failure, type WriteJob, type WriteResponse, type WriterHost } from './writer-host.ts';

const MAX_BATCH_COMMANDS = 128;
const MAX_BATCH_MS = 20;
/** Batches with savepoints after a failed command: a peer that can make commands fail must not double all work. */
const GUARDED_BATCHES = 64;

type CommandOutcome = { answer: WriteResponse; wakeUps: WakeUp[] };

/** End of a transaction. `failed`: a command failed, and all was rolled back; `void`: nothing was committed. */
type TransactionEnd = 'committed' | 'failed' | 'void';

/**
 * The only writer. Runs all queued commands, commits once and answers all of them; commands that arrive during the
 * flush are the next batch. If a command fails, the batch is rolled back and runs again with a savepoint for each
 * command. Not at once: a savepoint copies each page that its command changes, and commands rarely fail.
 */
export class Writer {
  readonly #connection: DatabaseConnection;
  readonly #hooks: WriteHooks;
  readonly #commands: ReadonlyMap<string, Command<never, unknown>>;
  readonly #host: WriterHost;
  #queue: WriteJob[] = [];
  #slices: WriteJob[] = [];
  #running = false;
  #dead = false;
  /** Number of following batches that use savepoints. */
  #guarded = 0;
  /** Work that a command left for later, and whether it ran in the open transaction. */
  #left: Command<Record<string, never>, { more: boolean }> | undefined;
  #finished = false;

  constructor(
    connection: DatabaseConnection,
    { commands, hooks }: { commands: readonly Command<never, unknown>[]; hooks: WriteHooks },
    host: WriterHost,
  ) {
    this.#connection = connection;
    this.#hooks = hooks;
    this.#commands = new Map(commands.map((command) => [command.name, command]));
    this.#host = host;
    // The last process may have ended before it finished what it left.
    this.#left = commands.find(({ leaves }) => leaves !== undefined)?.leaves;
  }

  submit(jobs: readonly WriteJob[]): void {
    this.#sort(jobs);
    if (this.#running) return;
    this.#running = true;
    void this.#loop();
  }

  #sort(jobs: readonly WriteJob[]): void {
    for (const job of jobs) (job.slice ? this.#slices : this.#queue).push(job);
  }

  async #loop(): Promise<void> {
    try {
      while (!this.#dead && (this.#queue.length > 0 || this.#slices.length > 0)) {
        await this.#batch();
        this.#sort(this.#host.more());
      }
    } catch (error) {
      this.#die(error);
    }
    this.#running = false;
    if (!this.#dead) this.#host.idle();
  }

  async #batch(): Promise<void> {
    const guarded = this.#guarded > 0;
    if (guarded) this.#guarded--;
    const jobs: WriteJob[] = [];
    let end = await this.#transaction(this.#take(jobs), guarded);
    if (end === 'failed') {
      this.#guarded = GUARDED_BATCHES;
      end = await this.#transaction(jobs, true);
    }
    // FULL, IOERR, NOMEM and INTERRUPT can roll back the whole transaction, not only the savepoint. Then the batch is
    // void and its commands run again one by one.
    if (end !== 'committed') await this.#oneByOne(jobs);
  }

  /** Takes the jobs of one batch as they arrive, then slices while no other job waits, and adds each to `taken`. */
  *#take(taken: WriteJob[]): Generator<WriteJob> {
    const began = performance.now();
    const take = (job: WriteJob): WriteJob => {
      taken.push(job);
      return job;
    };
    while (taken.length < MAX_BATCH_COMMANDS && performance.now() - began < MAX_BATCH_MS) {
      if (this.#queue.length === 0) this.#sort(this.#host.more());
      const job = this.#queue.shift();
      if (job === undefined) break;
      yield take(job);
    }
    do {
      const slice = this.#slices.shift();
      if (slice === undefined) return;
      yield take(slice);
      this.#sort(this.#host.more());
    } while (this.#queue.length === 0 && performance.now() - began < MAX_BATCH_MS);
  }

  /** Runs jobs in one transaction and answers them after its commit. Without savepoints it ends at the first failure. */
  async #transaction(jobs: Iterable<WriteJob>, savepoints: boolean): Promise<TransactionEnd> {
    if (!this.#begin()) return 'void';
    using turn = savepoints ? undefined : new TurnGuard();
    const outcomes: CommandOutcome[] = [];
    for (const job of jobs) {
      const outcome = await this.#one(job, turn);
      if (!this.#connection.inTransaction) return 'void';
      if (!savepoints && !outcome.answer.ok) {
        this.#rollback();
        return 'failed';
      }
      outcomes.push(outcome);
    }
    if (!this.#commit()) return 'void';
    this.#respond(outcomes);
    return 'committed';
  }

  async #oneByOne(jobs: readonly WriteJob[]): Promise<void> {
    for (const job of jobs) {
      if (this.#dead || !this.#begin()) return;
      const outcome = await this.#one(job);
      if (this.#connection.inTransaction && this.#commit()) this.#respond([outcome]);
      else this.#respond([{ answer: outcome.answer.ok ? failed(job, full()) : outcome.answer, wakeUps: [] }]);
    }
  }

  #begin(): boolean {
    try {
      this.#finished = false;
      this.#connection.run('BEGIN IMMEDIATE', []);
      return true;
    } catch (error) {
      this.#die(error);
      return false;
    }
  }

  /**
   * Commits; returns false if nothing was committed. Never repeats a failed flush: the second one may report success
   * falsely.
   */
  #commit(): boolean {
    try {
      this.#connection.run('COMMIT', []);
      if (this.#finished) this.#left = undefined;
      return true;
    } catch (error) {
      if (this.#connection.inTransaction) this.#rollback();
      if (sqliteCode(error) !== SQLITE.FULL) this.#die(error);
      return false;
    }
  }

  #rollback(): void {
    try {
      this.#connection.run('ROLLBACK', []);
    } catch (error) {
      this.#die(error);
    }
  }

  /** Runs one command, after what an earlier one of another kind left. */
  async #one(job: WriteJob, turn?: TurnGuard): Promise<CommandOutcome> {
    const command = this.#commands.get(job.name);
    if (this.#left !== undefined && !this.#finished && this.#left !== command && this.#left !== command?.leaves) {
      const { answer } = await this.#run({ ...job, name: this.#left.name, input: {} }, turn);
      if (!answer.ok) return { answer, wakeUps: [] };
      this.#finished = true;
    }
    const outcome = await this.#run(job, turn);
    if (command?.leaves !== undefined) {
      this.#left = command.leaves;
      this.#finished = false;
    } else if (command !== undefined && command === this.#left && outcome.answer.ok) {
      this.#finished = !(outcome.answer.value as { more: boolean }).more;
    }
    return outcome;
  }

  /** Runs one command; with `turn` not in a savepoint, so that a failure leaves its changes in the transaction. */
  async #run(job: WriteJob, turn?: TurnGuard): Promise<CommandOutcome> {
    const tx = new StoreTransaction(this.#connection, this.#hooks);
    try {
      const command = this.#commands.get(job.name);
      if (command === undefined) throw new Error(`unknown command ${job.name}`);
      if (turn === undefined) this.#connection.run('SAVEPOINT command', []);
      const value = await requireSettled(command.run(tx, job.input as never, job.stamp), turn);
      if (tx.uncaught !== undefined) throw tx.uncaught;
      const wakeUps = tx.revoke();
      if (turn === undefined) this.#connection.run('RELEASE command', []);
      return { answer: { id: job.id, ok: true, value }, wakeUps };
    } catch (error) {
      tx.revoke();
      if (turn === undefined) this.#undo();
      if (isDamage(error)) this.#die(error);
      return { answer: failed(job, error), wakeUps: [] };
    }
  }

  #undo(): void {
    if (!this.#connection.inTransaction) return;
    try {
      this.#connection.run('ROLLBACK TO command', []);
      this.#connection.run('RELEASE command', []);
    } catch {
      // The savepoint was lost with the transaction, or never existed: void the batch.
      if (this.#connection.inTransaction) this.#rollback();
    }
  }

  #respond(outcomes: readonly CommandOutcome[]): void {
    if (this.#dead) return;
    this.#host.answer(
      outcomes.map((outcome) => outcome.answer),
      outcomes.flatMap((outcome) => outcome.wakeUps),
    );
  }

  #die(error: unknown): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#host.fatal(toFailure(error));
  }
}

/** Rejects bodies that have not settled before the next macrotask, since they may await only `tx`. */
class TurnGuard implements Disposable {
  readonly #late = Promise.withResolvers<never>();
  readonly #immediate = setImmediate(() =>
    this.#late.reject(new Error('a command awaited something other than its transaction')),
  );

  settled<T>(body: Promise<T>): Promise<T> {
    return Promise.race([body, this.#late.promise]);
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#immediate);
  }
}

async function requireSettled<T>(body: Promise<T>, shared: TurnGuard | undefined): Promise<T> {
  if (shared !== undefined) return shared.settled(body);
  using turn = new TurnGuard();
  return await turn.settled(body);
}

function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.IOERR || code === SQLITE.CORRUPT || code === SQLITE.READONLY;
}

function full(): Error {
  return Object.assign(new Error('the disk is full'), { errcode: SQLITE.FULL });
}

function failed(job: WriteJob, error: unknown): WriteResponse {
  return { id: job.id, ok: false, failure: toFailure(error) };
}

function toFailure(error: unknown): Failure {
  return asFailure(error, sqliteCode(error) === SQLITE.FULL ? 'disk-full' : 'fault');
}
