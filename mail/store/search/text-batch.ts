import type { HeaderTexts, PartTexts } from '../../message/search-text.ts';
import { segment } from '../../message/word-tokens.ts';
import type { DatabaseConnection } from '../engine/connection.ts';

/** Text of one message. */
export interface MessageTexts {
  header: HeaderTexts;
  part: PartTexts;
}

/** A commit is due at one of these. FTS5 keeps the words of a transaction in memory and writes them at its end. */
const MAX_MESSAGES = 1_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
const MAX_AGE_MS = 5_000;

/**
 * One transaction of the full-text file over many steps, since a commit writes a sorted segment: a thousand messages
 * in one cost an eighth of the octets that fifty cost. A kill loses the open transaction with its progress, so its
 * messages are indexed again.
 */
export class TextBatch {
  readonly #connection: DatabaseConnection;
  /** Progress by account, in the open transaction. */
  readonly #progress = new Map<number, number>();
  #open = false;
  #messages = 0;
  #characters = 0;
  #began = 0;
  #commits = 0;

  constructor(connection: DatabaseConnection) {
    this.#connection = connection;
  }

  /** Number of messages in the open transaction. */
  get messages(): number {
    return this.#messages;
  }

  /** Number of commits since {@link merged}, each of which wrote a segment that every search reads. */
  get commits(): number {
    return this.#commits;
  }

  /** Called when the segments are merged. */
  merged(): void {
    this.#commits = 0;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  get isDue(): boolean {
    const full = this.#messages >= MAX_MESSAGES || this.#characters >= MAX_CHARACTERS;
    return this.#open && (full || performance.now() - this.#began >= MAX_AGE_MS);
  }

  /** The last indexed email of an account in the open transaction; undefined: none. */
  progress(account: number): number | undefined {
    return this.#progress.get(account);
  }

  add(email: number, { header, part }: MessageTexts): void {
    this.#begin();
    const texts = [header.subject, header.from, header.to, header.cc, header.bcc, part.body, part.attach].map(segment);
    this.#connection.run(
      'INSERT INTO message_text (rowid, subject, from_, to_, cc_, bcc_, body, attach) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      [email, ...texts],
    );
    this.#messages++;
    for (const { length } of texts) this.#characters += length;
  }

  /** Records that the account's emails up to `upto` are indexed. */
  note(account: number, upto: number, mark: number): void {
    this.#begin();
    this.#connection.run(
      `INSERT INTO progress (account, upto, mark) VALUES (?, ?, ?)
       ON CONFLICT (account) DO UPDATE SET upto = excluded.upto, mark = excluded.mark`,
      [account, upto, mark],
    );
    this.#progress.set(account, upto);
  }

  commit(): void {
    if (!this.#open) return;
    try {
      this.#connection.script('COMMIT');
    } catch (error) {
      this.rollback();
      throw error;
    }
    this.#commits++;
    this.#end();
  }

  rollback(): void {
    if (this.#connection.inTransaction) this.#connection.script('ROLLBACK');
    this.#end();
  }

  #begin(): void {
    if (this.#open) return;
    this.#connection.script('BEGIN');
    this.#open = true;
    this.#began = performance.now();
  }

  #end(): void {
    this.#open = false;
    this.#messages = 0;
    this.#characters = 0;
    this.#progress.clear();
  }
}
