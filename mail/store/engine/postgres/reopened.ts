import type { PostgresConnection } from './connection.ts';
import { ConnectionLost, DedicatedConnection } from './dedicated.ts';

/** Number of looks in the limit: a process that was held up takes one, and reads the replies that came meanwhile. */
const LOOKS = 10;

/** A connection that is opened when it is needed, and again after it failed or fell silent. */
export class ReopenedConnection {
  readonly #url: string;
  /** Longest time of one run, ms: the network may drop what is sent without an error. */
  readonly #limit: number;
  #connection: DedicatedConnection | undefined;
  readonly #closing = new AbortController();
  /** Ends with the last run. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(url: string, limit: number) {
    this.#url = url;
    this.#limit = limit;
  }

  /** Runs statements after those of earlier runs. If it fails or takes too long, an open transaction is rolled back. */
  run<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const run = this.#last.then(() => this.#run(work));
    this.#last = run.catch(() => undefined);
    return run;
  }

  /** Ends a run that is under way; those behind it fail. */
  async close(): Promise<void> {
    this.#closing.abort(new ConnectionLost());
    await this.#connection?.close();
  }

  async #run<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = await this.#connected();
    let looks = 0;
    const late = setInterval(() => {
      if (++looks === LOOKS) void connection.close();
    }, this.#limit / LOOKS);
    try {
      return await work(connection.statements);
    } catch (error) {
      await connection.close();
      throw error;
    } finally {
      clearInterval(late);
    }
  }

  async #connected(): Promise<DedicatedConnection> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    if (this.#connection?.isClosed === false) return this.#connection;
    return (this.#connection = await DedicatedConnection.open(this.#url, signal));
  }
}
