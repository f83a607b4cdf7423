import type { EndedLogins, RangeFlags, Row, Value, WakeUp, Write, WriteHooks } from './types.ts';

const settledVoid = Promise.resolve();

/** Statements of a connection; an engine beside SQLite answers with promises. */
export interface StatementRunner {
  get<T extends Row>(sql: string, params: readonly Value[]): T | undefined | Promise<T | undefined>;
  all<T extends Row>(sql: string, params: readonly Value[]): T[] | Promise<T[]>;
  run(
    sql: string,
    params: readonly Value[],
  ): { changes: number; id: number } | Promise<{ changes: number; id: number }>;
  /** Sends a statement without waiting for its reply. */
  send?(sql: string, params: readonly Value[]): void;
  /** Waits for the replies to statements that were sent; rejects with the first error among them. */
  settle?(): Promise<void>;
}

/** The `tx` of one command. Revoked when the body ends, so that nothing writes outside its savepoint. */
export class StoreTransaction implements Write {
  readonly #connection: StatementRunner;
  readonly #modseqs = new Map<number, number>();
  readonly #touched = new Map<number, Set<number>>();
  readonly #flags = new Map<number, RangeFlags>();
  /** Also those of a body that `attempt` rolled back: a session too many that ends logs in again. */
  readonly ended: EndedLogins[] = [];
  #revoked = false;
  #depth = 0;
  /** The first statement error outside of `attempt`: a body that swallows it must not be committed partially. */
  uncaught: Error | undefined;
  readonly hooks: WriteHooks;
  readonly #beside: boolean;

  /** `beside`: other commands run statements in the same transaction meanwhile. */
  constructor(connection: StatementRunner, hooks: WriteHooks, { beside = false } = {}) {
    this.#connection = connection;
    this.hooks = hooks;
    this.#beside = beside;
  }

  get<T extends Row>(sql: string, ...params: Value[]): Promise<T | undefined> {
    return this.#statement(() => this.#connection.get<T>(sql, params));
  }

  all<T extends Row>(sql: string, ...params: Value[]): Promise<T[]> {
    return this.#statement(() => this.#connection.all<T>(sql, params));
  }

  run(sql: string, ...params: Value[]): Promise<{ changes: number; id: number }> {
    return this.#statement(() => this.#connection.run(sql, params));
  }

  send(sql: string, ...params: Value[]): Promise<void> {
    const connection = this.#connection;
    return this.#statement(() => {
      if (connection.send !== undefined) return connection.send(sql, params);
      const done = connection.run(sql, params);
      return done instanceof Promise ? done.then(() => undefined) : undefined;
    });
  }

  async nextModseq(account: number): Promise<number> {
    const known = this.#modseqs.get(account);
    if (known !== undefined) return known;
    const row = await this.get<{ modseq: number }>(
      'UPDATE account SET modseq = modseq + 1 WHERE id = ? RETURNING modseq',
      account,
    );
    if (row === undefined) throw new Error(`account ${account} does not exist`);
    this.#modseqs.set(account, row.modseq);
    return row.modseq;
  }

  async nextEmail(account: number, size: number): Promise<{ modseq: number; email: number; thread: number }> {
    const row = await this.get<{ modseq: number; email: number; thread: number }>(
      `UPDATE account SET modseq = modseq + ?, email_seq = email_seq + 1, thread_seq = thread_seq + 1,
         used_bytes = used_bytes + ?, used_count = used_count + 1
       WHERE id = ? RETURNING modseq, email_seq AS email, thread_seq AS thread`,
      Number(!this.#modseqs.has(account)),
      size,
      account,
    );
    if (row === undefined) throw new Error(`account ${account} does not exist`);
    this.#modseqs.set(account, row.modseq);
    return row;
  }

  touched(account: number, mailbox?: number, flags?: RangeFlags): void {
    const mailboxes = this.#touched.get(account) ?? new Set();
    this.#touched.set(account, mailboxes);
    if (mailbox === undefined) return;
    if (flags !== undefined && !mailboxes.has(mailbox)) this.#flags.set(mailbox, flags);
    else this.#flags.delete(mailbox);
    mailboxes.add(mailbox);
  }

  loginsEnded(account: number, credential?: number): void {
    this.ended.push({ account, ...(credential !== undefined && { credential }) });
  }

  async attempt<T>(body: () => Promise<T>): Promise<{ ok: true; value: T } | { ok: false; error: Error }> {
    // A rollback would undo their work as well.
    if (this.#beside) throw new Error('a command that runs beside others has no savepoints');
    const savepoint = `attempt_${this.#depth++}`;
    await this.run(`SAVEPOINT ${savepoint}`);
    const before = this.uncaught;
    try {
      const value = await body();
      await this.#connection.settle?.();
      if (this.uncaught !== before) throw this.uncaught;
      await this.run(`RELEASE ${savepoint}`);
      return { ok: true, value };
    } catch (error) {
      await this.#connection.settle?.().catch(() => undefined);
      this.uncaught = before;
      await this.run(`ROLLBACK TO ${savepoint}`);
      await this.run(`RELEASE ${savepoint}`);
      return { ok: false, error: error as Error };
    } finally {
      this.#depth--;
    }
  }

  /** Ends the transaction: later calls throw. Returns its wake-ups. */
  revoke(): WakeUp[] {
    this.#revoked = true;
    return [...this.#touched].map(([account, mailboxes]) => ({
      account,
      modseq: this.#modseqs.get(account) ?? 0,
      mailboxes: [...mailboxes],
      ...(this.#flags.size > 0 && { flags: this.#flags }),
    }));
  }

  #statement<T>(work: () => T | Promise<T>): Promise<T> {
    if (this.#revoked) return Promise.reject(new Error('the transaction has ended'));
    try {
      const value = work();
      if (value === undefined) return settledVoid as Promise<T>;
      return value instanceof Promise ? this.#recorded(value) : Promise.resolve(value);
    } catch (error) {
      this.uncaught ??= error as Error;
      return Promise.reject(error);
    }
  }

  async #recorded<T>(value: Promise<T>): Promise<T> {
    try {
      return await value;
    } catch (error) {
      this.uncaught ??= error as Error;
      throw error;
    }
  }
}
