import type { PostgresConnection } from './connection.ts';
import { ReopenedConnection } from './reopened.ts';

const INTERVAL_MS = 2_000;
/** Time to answer, ms: a network may drop what is sent without an error. */
const PATIENCE_MS = 5_000;

/** A standby, and a primary that was demoted, answer and refuse every write. */
const QUESTION = `SELECT current_setting('transaction_read_only') = 'off' AS writable`;

/** Asks the database at intervals whether it answers and can be written to. */
export class DatabaseWatch {
  readonly #connection: ReopenedConnection;
  readonly #changed: (answers: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  /** False: the last question was not answered, or the database is read-only. */
  answers = true;

  /** `changed` is called when the database stops to answer or to write, and when it does so again. */
  constructor(url: string, changed: (answers: boolean) => void) {
    this.#connection = new ReopenedConnection(url, PATIENCE_MS);
    this.#changed = changed;
    this.#wait();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#connection.close();
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#ask(), INTERVAL_MS);
    this.#timer.unref();
  }

  async #ask(): Promise<void> {
    const answers = await this.#connection.run(isWritable).catch(() => false);
    if (this.#timer === undefined) return;
    if (answers !== this.answers) this.#changed(answers);
    this.answers = answers;
    this.#wait();
  }
}

/** Rejects where it is not: the name may be that of another server now, so that the next question connects again. */
async function isWritable(connection: PostgresConnection): Promise<true> {
  const row = await connection.get(QUESTION, []);
  if (row?.['writable'] !== 1) throw new Error('the database is read-only');
  return true;
}
