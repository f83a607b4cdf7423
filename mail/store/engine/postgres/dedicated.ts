import type postgres from 'postgres';
import { isAway, openPool, PostgresConnection, type StatementSender } from './connection.ts';

const NO_NUMBERS: ReadonlyMap<string, string> = new Map();

/** One connection that is never replaced: a lock or a transaction that it holds ends with it. */
export class DedicatedConnection {
  readonly sql: StatementSender;
  readonly #pool: postgres.Sql;
  readonly #state: ConnectionState;
  #statements: PostgresConnection;

  private constructor(pool: postgres.Sql, reserved: StatementSender, state: ConnectionState) {
    this.#pool = pool;
    this.#state = state;
    // A statement on a reserved connection that is lost ends the process (postgres 3.4.9, issue 1208).
    const unsafe = (...statement: Parameters<StatementSender['unsafe']>): unknown =>
      state.closed ? Promise.reject(new ConnectionLost()) : reserved.unsafe(...statement);
    this.sql = { unsafe } as unknown as StatementSender;
    this.#statements = new PostgresConnection(this.sql, NO_NUMBERS);
  }

  static async open(url: string): Promise<DedicatedConnection> {
    const state: ConnectionState = { closed: false };
    const pool = openPool(url, 1, () => end(state));
    try {
      // Without a statement before it, reserve never resolves on a connection that is new (postgres 3.4.9).
      await pool.unsafe('SELECT 1');
      // Nor does it where the connection is lost just now.
      return new DedicatedConnection(pool, await Promise.race([pool.reserve(), lost(state)]), state);
    } catch (error) {
      await pool.end({ timeout: 0 });
      throw isAway(error) ? error : new CannotConnect(error as Error);
    }
  }

  /** Sets the columns that number the rows of the tables, which a new database has after its migration. */
  use(numbered: ReadonlyMap<string, string>): this {
    this.#statements = new PostgresConnection(this.sql, numbered);
    return this;
  }

  get statements(): PostgresConnection {
    return this.#statements;
  }

  get isClosed(): boolean {
    return this.#state.closed;
  }

  /** Calls the listener when it is closed or lost; there is one. */
  onClose(listener: () => void): void {
    this.#state.listener = listener;
    if (this.#state.closed) listener();
  }

  /** Closes it at once: statements that await a reply fail. */
  close(): Promise<void> {
    end(this.#state);
    return this.#pool.end({ timeout: 0 });
  }
}

/** Rejects when the connection is lost. */
function lost(state: ConnectionState): Promise<never> {
  return new Promise((_, reject) => {
    state.listener = () => reject(new ConnectionLost());
    if (state.closed) state.listener();
  });
}

interface ConnectionState {
  closed: boolean;
  listener?: () => void;
}

function end(state: ConnectionState): void {
  if (state.closed) return;
  state.closed = true;
  state.listener?.();
}

/** The connection was refused, for instance for its password or certificate. Only an operator can change that, but it may change. */
class CannotConnect extends Error {
  readonly code = 'CONNECTION_REFUSED';
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

class ConnectionLost extends Error {
  readonly code = 'CONNECTION_CLOSED';
  constructor() {
    super('the connection to the database was lost');
  }
}
