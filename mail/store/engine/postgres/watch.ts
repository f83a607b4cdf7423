import type postgres from 'postgres';
import { openPool } from './connection.ts';

const INTERVAL_MS = 2_000;
/** Time to answer, ms: a network may drop what is sent without an error. */
const PATIENCE_MS = 5_000;

/** A standby, and a primary that was demoted, answer and refuse every write. */
const QUESTION = `SELECT current_setting('transaction_read_only') = 'off' AS writable`;

/** Asks the database at intervals whether it answers and can be written to. */
export class DatabaseWatch {
  readonly #url: string;
  readonly #changed: (answers: boolean) => void;
  #pool: postgres.Sql;
  #timer: NodeJS.Timeout | undefined;
  /** False: the last question was not answered, or the database is read-only. */
  answers = true;

  /** `changed` is called when the database stops to answer or to write, and when it does so again. */
  constructor(url: string, changed: (answers: boolean) => void) {
    this.#url = url;
    this.#changed = changed;
    this.#pool = openPool(url, 1);
    this.#wait();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#pool.end({ timeout: 0 });
  }

  #wait(): void {
    this.#timer = setTimeout(() => void this.#ask(), INTERVAL_MS);
    this.#timer.unref();
  }

  async #ask(): Promise<void> {
    const late = setTimeout(() => this.#renew(), PATIENCE_MS);
    const answers = await this.#pool.unsafe(QUESTION).then(
      ([row]) => row?.['writable'] === 1,
      () => false,
    );
    clearTimeout(late);
    if (this.#timer === undefined) return;
    // The name may be that of another server now.
    if (!answers) this.#renew();
    if (answers !== this.answers) this.#changed(answers);
    this.answers = answers;
    this.#wait();
  }

  /** Ends the connection, so that a question fails that awaits its answer. */
  #renew(): void {
    void this.#pool.end({ timeout: 0 });
    this.#pool = openPool(this.#url, 1);
  }
}
