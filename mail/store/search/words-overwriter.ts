import type { DatabaseConnection } from '../engine/connection.ts';
import { clearRemovedWords } from './removed-words.ts';

/** Pages that one step fills or frees, and as many as it merges: a search waits for it. */
const PAGES = 200;

/**
 * Overwrites the words of removed messages in a large file, a slice a step. FTS5 leaves them in its segments until these are
 * merged, and SQLite in free pages: all segments are merged into one, then the free pages are filled with zeros and freed again.
 * No message may be removed between its steps, since the last one declares the file clean.
 */
export class WordsOverwriter {
  readonly #connection: DatabaseConnection;
  #phase: 'merge' | 'fill' | 'free' = 'merge';

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
    // Pages that the merges free are overwritten at once.
    connection.script('PRAGMA main.secure_delete = ON');
    connection.script('CREATE TABLE IF NOT EXISTS main.filler (octets BLOB NOT NULL) STRICT');
  }

  /** Runs one step. False: the words are overwritten. */
  step(): boolean {
    switch (this.#phase) {
      case 'merge':
        if (!this.#merge()) this.#phase = 'fill';
        return true;
      case 'fill':
        if (!this.#fill()) this.#phase = 'free';
        return true;
      case 'free':
        if (this.#free()) return true;
        clearRemovedWords(this.#connection);
        this.#connection.script('PRAGMA main.secure_delete = OFF');
        return false;
    }
  }

  /** Merges a slice of all segments into one. False: they are merged. */
  #merge(): boolean {
    const before = this.#number('SELECT total_changes() AS n');
    // FTS5 takes a negative number for: merge whatever the number of segments is.
    this.#connection.run(`INSERT INTO message_text (message_text, rank) VALUES ('merge', -200)`, []);
    // One change is the command itself.
    return this.#number('SELECT total_changes() AS n') - before >= 2;
  }

  /** Fills a slice of the free pages. False: there is none. */
  #fill(): boolean {
    const free = this.#number('SELECT freelist_count AS n FROM pragma_freelist_count');
    if (free === 0) return false;
    const octets = Math.min(free, PAGES) * this.#number('SELECT page_size AS n FROM pragma_page_size');
    this.#connection.run('INSERT INTO main.filler (octets) VALUES (zeroblob(?))', [octets]);
    return true;
  }

  /** Frees a slice of the filled pages. False: none is left. */
  #free(): boolean {
    const { changes } = this.#connection.run(
      'DELETE FROM main.filler WHERE rowid = (SELECT min(rowid) FROM main.filler)',
      [],
    );
    return changes > 0;
  }

  #number(sql: string): number {
    return this.#connection.get<{ n: number }>(sql, [])?.n ?? 0;
  }
}
