import type postgres from 'postgres';
import { openPool, PostgresConnection, type StatementSender, type StatementStreams } from './connection.ts';
import { isAway } from './errors.ts';
import { limited } from './time-limit.ts';

/** Time to connect, ms. */
const CONNECT_LIMIT_MS = 15_000;
const NO_NUMBERS: ReadonlyMap<string, string> = new Map();

/** One connection that is never replaced: a lock or a transaction that it holds ends with it. */
export class DedicatedConnection {
  readonly sql: StatementSender;
  readonly #pool: postgres.Sql;
  readonly #reserved: StatementStreams;
  readonly #state: ConnectionState;
  #statements: PostgresConnection;

  private constructor(pool: postgres.Sql, reserved: StatementStreams, state: ConnectionState) {
    this.#reserved = reserved;
    this.#pool = pool;
    this.#state = state;
    // A statement on a reserved connection that is lost ends the process (postgres 3.4.9, issue 1208).
    this.sql = {
      unsafe: (...statement) =>
        state.closed ? Promise.reject(new ConnectionLost()) : untilLost(state, reserved.unsafe(...statement)),
    };
    this.#statements = new PostgresConnection(this.sql, NO_NUMBERS);
  }

  /** Connects. Rejects if that takes too long, or as soon as `stop` is aborted, with its reason. */
  static async open(url: string, stop?: AbortSignal): Promise<DedicatedConnection> {
    const state: ConnectionState = { closed: false, pending: new Set() };
    const pool = openPool(url, 1, () => end(state));
    try {
      // A proxy before a server that is away accepts connections and closes them: the library connects again for ever.
      const reserved = await limited(reserve(pool, state), CONNECT_LIMIT_MS, stop);
      return new DedicatedConnection(pool, reserved, state);
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

  /** For COPY and cursors. What awaits their rows may not hear that the connection was lost meanwhile. */
  get streams(): StatementStreams {
    if (this.#state.closed) throw new ConnectionLost();
    return this.#reserved;
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

/** Connects and keeps the connection of a pool of one. */
async function reserve(pool: postgres.Sql, state: ConnectionState): Promise<StatementStreams> {
  // Without a statement before it, reserve never resolves on a connection that is new (postgres 3.4.9).
  await pool.unsafe('SELECT 1');
  // Nor does it where the connection is lost just now.
  return Promise.race([pool.reserve(), lost(state)]);
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
  /** Rejects of the statements that await their reply. */
  readonly pending: Set<(error: Error) => void>;
  listener?: () => void;
}

/**
 * Result of a statement, or a rejection when the connection is lost: the library forgets the statements of a reserved
 * connection that wait behind another one (postgres 3.4.9), so that their promises would never settle.
 */
function untilLost<T>(state: ConnectionState, statement: PromiseLike<T>): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    state.pending.add(reject);
    const settled = (): void => void state.pending.delete(reject);
    statement.then(resolve, reject).then(settled, settled);
  });
}

function end(state: ConnectionState): void {
  if (state.closed) return;
  state.closed = true;
  state.listener?.();
  for (const reject of state.pending) reject(new ConnectionLost());
  state.pending.clear();
}

/** The connection was refused, for instance for its password or certificate. Only an operator can change that, but it may change. */
class CannotConnect extends Error {
  readonly code = 'CONNECTION_REFUSED';
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** The connection ended; what it was to do may be tried again. */
export class ConnectionLost extends Error {
  readonly code = 'CONNECTION_CLOSED';
  constructor() {
    super('the connection to the database was lost');
  }
}
