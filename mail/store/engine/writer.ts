import { type Connection, SQLITE, sqliteCode } from './connection.ts';
import { Transaction } from './transaction.ts';
import type { Command, Stamp, WakeUp } from './types.ts';

/** A command on its way to the writer. */
export interface Job {
  id: number;
  name: string;
  input: unknown;
  stamp: Stamp;
  /** True: the second lane, one a batch. */
  slice: boolean;
}

/** Errors cross threads as values: an Error would lose its class and code. */
export interface Failure {
  message: string;
  /** 'disk-full' and 'queue' mean later; 'fault' is a bug or damage. */
  reason: 'disk-full' | 'fault';
  stack: string;
}

export type Answer = { id: number; ok: true; value: unknown } | { id: number; ok: false; failure: Failure };

export interface WriterFace {
  /** Takes jobs that arrived meanwhile, without waiting. */
  more(): Job[];
  answer(answers: Answer[], wakeUps: WakeUp[]): void;
  /** The database cannot be trusted any more: whoever waits is told "later" and the process must end. */
  fatal(failure: Failure): void;
  /** Nothing is queued any more. */
  idle(): void;
}

const MOST_COMMANDS = 128;
const LONGEST_MS = 20;

type Outcome = { answer: Answer; wakeUps: WakeUp[] };

/**
 * The one place where anything is written. Takes what is queued, runs each command in a savepoint, commits once, then
 * answers all of them: the flush itself collects the next batch.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #commands: ReadonlyMap<string, Command<never, unknown>>;
  readonly #face: WriterFace;
  #queue: Job[] = [];
  #slices: Job[] = [];
  #running = false;
  #dead = false;

  constructor(connection: Connection, commands: readonly Command<never, unknown>[], face: WriterFace) {
    this.#connection = connection;
    this.#commands = new Map(commands.map((command) => [command.name, command]));
    this.#face = face;
  }

  submit(jobs: readonly Job[]): void {
    this.#sort(jobs);
    if (this.#running) return;
    this.#running = true;
    void this.#loop();
  }

  #sort(jobs: readonly Job[]): void {
    for (const job of jobs) (job.slice ? this.#slices : this.#queue).push(job);
  }

  async #loop(): Promise<void> {
    try {
      while (!this.#dead && (this.#queue.length > 0 || this.#slices.length > 0)) {
        await this.#batch();
        this.#sort(this.#face.more());
      }
    } catch (error) {
      this.#die(error);
    }
    this.#running = false;
    if (!this.#dead) this.#face.idle();
  }

  async #batch(): Promise<void> {
    const began = performance.now();
    const jobs: Job[] = [];
    const outcomes: Outcome[] = [];
    if (!this.#begin()) return;
    const run = async (job: Job): Promise<boolean> => {
      jobs.push(job);
      outcomes.push(await this.#one(job));
      return this.#connection.inTransaction;
    };
    let whole = true;
    while (whole && jobs.length < MOST_COMMANDS && performance.now() - began < LONGEST_MS) {
      if (this.#queue.length === 0) this.#sort(this.#face.more());
      const job = this.#queue.shift();
      if (job === undefined) break;
      whole = await run(job);
    }
    const slice = whole ? this.#slices.shift() : undefined;
    if (slice !== undefined) whole = await run(slice);
    // FULL, IOERR, NOMEM and INTERRUPT can end the whole transaction, not only the savepoint: then nothing of the
    // batch is there, also not what had succeeded, and its commands run again one by one.
    if (whole && this.#commit()) this.#tell(outcomes);
    else await this.#oneByOne(jobs);
  }

  async #oneByOne(jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) {
      if (this.#dead || !this.#begin()) return;
      const outcome = await this.#one(job);
      if (this.#connection.inTransaction && this.#commit()) this.#tell([outcome]);
      else this.#tell([{ answer: outcome.answer.ok ? failed(job, full()) : outcome.answer, wakeUps: [] }]);
    }
  }

  #begin(): boolean {
    try {
      this.#connection.run('BEGIN IMMEDIATE', []);
      return true;
    } catch (error) {
      this.#die(error);
      return false;
    }
  }

  /** False when nothing was committed. Never tries a failed flush again: the second try can lie. */
  #commit(): boolean {
    try {
      this.#connection.run('COMMIT', []);
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

  async #one(job: Job): Promise<Outcome> {
    const tx = new Transaction(this.#connection);
    try {
      const command = this.#commands.get(job.name);
      if (command === undefined) throw new Error(`no command is called ${job.name}`);
      this.#connection.run('SAVEPOINT command', []);
      const value = await settledNow(command.run(tx, job.input as never, job.stamp));
      if (tx.uncaught !== undefined) throw tx.uncaught;
      const wakeUps = tx.revoke();
      this.#connection.run('RELEASE command', []);
      return { answer: { id: job.id, ok: true, value }, wakeUps };
    } catch (error) {
      tx.revoke();
      this.#undo();
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
      // The savepoint went with the transaction, or never was: void the batch.
      if (this.#connection.inTransaction) this.#rollback();
    }
  }

  #tell(outcomes: readonly Outcome[]): void {
    if (this.#dead) return;
    this.#face.answer(
      outcomes.map((outcome) => outcome.answer),
      outcomes.flatMap((outcome) => outcome.wakeUps),
    );
  }

  #die(error: unknown): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#face.fatal(toFailure(error));
  }
}

/** A body awaits nothing but `tx`, so it is settled before the next macrotask or it does not keep the rule. */
async function settledNow<T>(body: Promise<T>): Promise<T> {
  let immediate: NodeJS.Immediate | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    immediate = setImmediate(() => reject(new Error('a command awaited something other than its transaction')));
  });
  try {
    return await Promise.race([body, tooLate]);
  } finally {
    clearImmediate(immediate);
  }
}

function isDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.IOERR || code === SQLITE.CORRUPT || code === SQLITE.READONLY;
}

function full(): Error {
  return Object.assign(new Error('the disk is full'), { errcode: SQLITE.FULL });
}

function failed(job: Job, error: unknown): Answer {
  return { id: job.id, ok: false, failure: toFailure(error) };
}

function toFailure(error: unknown): Failure {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { message, stack: stack ?? '', reason: sqliteCode(error) === SQLITE.FULL ? 'disk-full' : 'fault' };
}
