import type { Log } from '../../log.ts';
import { unpackParts } from '../../message/parts.ts';
import { headerTexts, partTexts } from '../../message/search-text.ts';
import { withoutLinks } from '../../message/secret-link.ts';
import type { DatabaseConnection } from '../engine/connection.ts';
import type { Query, Read } from '../engine/types.ts';
import { BlobUnreadable, isUnreadable } from '../blob/unreadable.ts';
import { ACCOUNT_SPAN } from './account-span.ts';
import type { MailSource } from './mail-source.ts';
import { BlobsAhead } from './blobs-ahead.ts';
import type { Octets } from './message-octets.ts';
import { type MessageTexts, TextBatch } from './text-batch.ts';
import { clearRemovedWords, noteRemovedWords, removedWordsSince } from './removed-words.ts';
import { isOfDatabase, openTextFile, openTextWriter } from './text-file.ts';
import { WordsOverwriter } from './words-overwriter.ts';

/** Maximum messages and duration of one step, since a search waits for it. */
const BATCH = 50;
const BATCH_MS = 25;
/** Commits before segments are merged: each search reads all of them, and each merge writes them again. */
const COMMITS_BEFORE_MERGE = 8;
/** Rows of one sweep step. */
const SWEPT = 2000;
/** Octets of a file that is rewritten at once after a sweep that removed messages; a search waits for it. */
const MAX_REWRITTEN = 32 * 1024 * 1024;
/** Age of removed words at which a larger file is rewritten in slices: all of it is written again. */
const OVERWRITE_AFTER_MS = 24 * 3_600_000;

export interface TextIndexPaths {
  /** Path of the full-text file. */
  path: string;
  /** Path of the mail database, or its URL. */
  database: string;
  /** Directory of blob files. */
  blobs: string;
}

/** Transient errors of reading a file. */
const PASSING: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

const NO_TEXTS: MessageTexts = {
  header: { subject: '', from: '', to: '', cc: '', bcc: '' },
  part: { body: '', attach: '' },
};

interface Waiting extends Record<string, number | string | null> {
  id: number;
  blob_id: number;
  redacted_from: number | null;
  received_at: number;
  header_length: number;
  parts: string;
}

/**
 * The full-text index of the mail database. Synchronous, in short steps; the caller schedules them. No step may run
 * while a query of {@link query} is open, which holds since both await only the connection. Mail is read on another
 * connection than the index is written on: a transaction over many steps must not pin a snapshot of the mail.
 */
export class TextIndex {
  readonly #place: TextIndexPaths;
  readonly #log: Log;
  readonly #connection: DatabaseConnection;
  readonly #source: MailSource;
  readonly #writer: DatabaseConnection;
  readonly #batch: TextBatch;
  #last = 0;
  #sweptTo = 0;
  /** No merge has begun; false at first, as the file may have segments of earlier runs. */
  #isMerged = false;
  readonly #maxRewritten: number;
  #overwriter: WordsOverwriter | undefined;

  /** `damaged`: damage was found. `maxRewritten`: octets of a file that is rewritten at once. */
  constructor(place: TextIndexPaths, log: Log, { damaged = false, maxRewritten = MAX_REWRITTEN } = {}) {
    this.#maxRewritten = maxRewritten;
    this.#place = place;
    this.#log = log;
    const { connection, source, fresh } = openTextFile(place.path, place.database, damaged);
    if (fresh !== undefined) log.info({ because: fresh }, 'rebuilding the full-text index');
    this.#connection = connection;
    this.#source = source;
    this.#writer = openTextWriter(place.path);
    this.#batch = new TextBatch(this.#writer);
  }

  /** Indexes a slice of the next account with unindexed messages. Returns their number; 0: all is indexed. */
  step(): number {
    const account = this.#nextBehind();
    if (account !== undefined) return this.advance(account);
    if (!this.#batch.isOpen) return 0;
    this.#commit();
    return 1;
  }

  /** Indexes a slice of one account, in the open transaction, with its progress. */
  advance(account: number): number {
    // Read before the write: an error at a damaged page of the mail would end the transaction.
    const rows = this.#waiting(account);
    const until = performance.now() + BATCH_MS;
    const read: MessageTexts[] = [];
    const blobs = new BlobsAhead(
      this.#source.mail,
      rows.map(({ blob_id }) => blob_id),
      this.#place.blobs,
    );
    while (read.length < rows.length && (read.length === 0 || performance.now() < until)) {
      const at = read.length;
      read.push(this.#textsOrNone(rows[at]!, () => blobs.open(at)));
    }
    const last = rows[read.length - 1];
    try {
      for (const [at, texts] of read.entries()) this.#batch.add(rows[at]!.id, texts);
      if (last !== undefined) this.#batch.note(account, last.id, last.received_at);
      // Messages without a row were purged before they were indexed.
      else this.#batch.note(account, account * ACCOUNT_SPAN + this.#target(account), 0);
    } catch (error) {
      this.#batch.rollback();
      throw error;
    }
    // FTS5 keeps words in memory while row ids ascend: one account after the other, in the order of their ids.
    this.#last = read.length === rows.length && rows.length < BATCH ? account : account - 1;
    if (this.#batch.isDue) this.#commit(account);
    return Math.max(read.length, 1);
  }

  /** Commits; the next transaction begins behind `account`, so that a large backlog does not delay other accounts. */
  #commit(account = 0): void {
    this.#batch.commit();
    this.#last = account;
  }

  /** Merges a slice of the segments, if there are many. True: there is more to merge. */
  merge(): boolean {
    this.#batch.commit();
    if (this.#isMerged && this.#batch.commits < COMMITS_BEFORE_MERGE) return false;
    const before = this.#changes();
    this.#writer.run(`INSERT INTO message_text (message_text, rank) VALUES ('merge', 100)`, []);
    // One change is the command itself.
    this.#isMerged = this.#changes() - before < 2;
    if (this.#isMerged) this.#batch.merged();
    return !this.#isMerged;
  }

  #changes(): number {
    return this.#writer.get<{ n: number }>('SELECT total_changes() AS n', [])?.n ?? 0;
  }

  /** Numbers of an account's assigned and unindexed messages. */
  progress(account: number): { left: number; total: number } {
    const total = this.#target(account);
    return { left: Math.max(0, total - (this.#progress(account) % ACCOUNT_SPAN)), total };
  }

  /** Removes a slice of purged messages, and lets the index merge; then overwrites their words. True: there is more to do. */
  sweep(): boolean {
    this.#batch.commit();
    if (this.#overwriter !== undefined) return this.#overwriteSlice(this.#overwriter);
    const connection = this.#connection;
    const end = connection.get<{ id: number | null }>(
      'SELECT max(id) AS id FROM (SELECT id FROM message_text_docsize WHERE id > ? ORDER BY id LIMIT ?)',
      [this.#sweptTo, SWEPT],
    )?.id;
    if (end == null) {
      this.#sweptTo = 0;
      this.#source.removeOldProgress();
      return this.#overwriteRemoved();
    }
    const gone = this.#source.purged(this.#sweptTo, end, BATCH);
    connection.script('BEGIN');
    try {
      for (const id of gone) connection.run('DELETE FROM message_text WHERE rowid = ?', [id]);
      if (gone.length > 0) noteRemovedWords(connection);
      connection.run(`INSERT INTO message_text (message_text, rank) VALUES ('merge', 200)`, []);
      connection.script('COMMIT');
    } catch (error) {
      if (connection.inTransaction) connection.script('ROLLBACK');
      throw error;
    }
    this.#sweptTo = gone.length === BATCH ? (gone.at(-1) ?? end) : end;
    return true;
  }

  /**
   * Rewrites the file without the words of removed messages, which FTS5 leaves in their segments until these are merged,
   * and SQLite in free pages. True: it is large, and slices of it follow.
   */
  #overwriteRemoved(): boolean {
    const connection = this.#connection;
    const since = removedWordsSince(connection);
    if (since === undefined) return false;
    const pages = connection.get<{ page_count: number }>('PRAGMA main.page_count', [])?.page_count ?? 0;
    const octets = connection.get<{ page_size: number }>('PRAGMA main.page_size', [])?.page_size ?? 0;
    if (pages * octets > this.#maxRewritten) {
      if (Date.now() - since >= OVERWRITE_AFTER_MS) this.#overwriter = new WordsOverwriter(connection);
      return this.#overwriter !== undefined;
    }
    connection.run(`INSERT INTO message_text (message_text) VALUES ('optimize')`, []);
    connection.script('VACUUM main');
    clearRemovedWords(connection);
    return false;
  }

  #overwriteSlice(overwriter: WordsOverwriter): boolean {
    if (overwriter.step()) return true;
    this.#overwriter = undefined;
    return false;
  }

  /** Number of unindexed messages of all accounts. */
  backlog(): number {
    return Math.max(0, this.#source.backlog() - this.#batch.messages);
  }

  /**
   * Runs a query that may use `message_text` and the mail database in one snapshot. Undefined: the account has
   * unindexed messages in that snapshot, which the query would miss.
   */
  query<I, O>(what: Query<I, O>, input: I, account: number): Promise<{ value: O } | undefined> {
    try {
      this.#batch.commit();
    } catch (error) {
      return Promise.reject(error);
    }
    const run = async (rx: Read): Promise<{ value: O } | undefined> =>
      this.progress(account).left > 0 ? undefined : { value: await what.run(rx, input) };
    return this.#source.query({ kind: 'query', name: what.name, run });
  }

  close(): void {
    try {
      this.#batch.commit();
    } catch {
      // Rolled back: its messages are indexed again.
    }
    this.#writer.close();
    this.#source.close();
    this.#connection.close();
  }

  /** The next account with unindexed messages; undefined: none, or only such as the open transaction may contain. */
  #nextBehind(): number | undefined {
    for (let after = this.#last; ;) {
      const account = this.#source.behindAfter(after);
      if (account === undefined && (this.#batch.isOpen || after === 0)) return undefined;
      if (account !== undefined && this.progress(account).left > 0) return account;
      after = account ?? 0;
    }
  }

  #waiting(account: number): Waiting[] {
    return this.#source.mail.all<Waiting>(
      `SELECT e.id, e.blob_id, e.redacted_from, e.received_at, m.header_length, m.parts FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE e.id > ? AND e.id < ? ORDER BY e.id LIMIT ?`,
      [this.#progress(account), (account + 1) * ACCOUNT_SPAN, BATCH],
    );
  }

  /** Skips an unreadable message so that it does not block later ones; no search finds it. */
  #textsOrNone(row: Waiting, open: () => Octets): MessageTexts {
    try {
      return this.#texts(row, open);
    } catch (error) {
      if (isOfDatabase(error) || PASSING.has(String((error as NodeJS.ErrnoException).code))) throw error;
      this.#log.warn(
        { err: error, email: row.id, blob: row.blob_id },
        'failed to index a message, full-text search will not find it',
      );
      return NO_TEXTS;
    }
  }

  #texts(row: Waiting, open: () => Octets): MessageTexts {
    using octets = openReadable(row.blob_id, open);
    const header = headerTexts(octets.read(0, row.header_length));
    const part = partTexts((start, length) => octets.read(start, length), unpackParts(row.parts));
    // Search results alone would reveal a secret by its prefix, letter by letter, so redacted text is not indexed.
    return { header, part: row.redacted_from === null ? part : { body: withoutLinks(part.body), attach: '' } };
  }

  #progress(account: number): number {
    const pending = this.#batch.progress(account);
    if (pending !== undefined) return pending;
    const row = this.#connection.get<{ upto: number }>('SELECT upto FROM progress WHERE account = ?', [account]);
    return row?.upto ?? account * ACCOUNT_SPAN;
  }

  #target(account: number): number {
    const row = this.#source.mail.get<{ email_seq: number }>('SELECT email_seq FROM account WHERE id = ?', [account]);
    return row?.email_seq ?? 0;
  }
}

/** Throws {@link BlobUnreadable} for a damaged page of the mail database, which is no damage of the index. */
function openReadable(blob: number, open: () => Octets): Octets {
  try {
    return open();
  } catch (error) {
    throw isUnreadable(error) ? new BlobUnreadable(blob, (error as Error).message, { cause: error }) : error;
  }
}
