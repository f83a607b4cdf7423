import type { Log } from '../../log.ts';
import { unpackParts } from '../../message/parts.ts';
import { type HeaderTexts, headerTexts, type PartTexts, partTexts } from '../../message/search-text.ts';
import { withoutLinks } from '../../message/secret-link.ts';
import { segment } from '../../message/words.ts';
import { type Connection, sqliteCode } from '../engine/connection.ts';
import { Reader } from '../engine/reader.ts';
import type { Query, Read } from '../engine/types.ts';
import { openOctets } from './message-octets.ts';
import { openTextFile } from './text-file.ts';

/** Ids of an account's emails lie between this and the next multiple. */
const ACCOUNT_SPAN = 2 ** 32;
/** Messages of one transaction, and how long one may take: a search waits for it. */
const BATCH = 50;
const BATCH_MS = 25;
/** Rows that one step of the sweep looks at. */
const SWEPT = 2000;

export interface TextPlace {
  /** The full-text file. */
  path: string;
  /** The mail database. */
  database: string;
  /** Directory of blob files. */
  blobs: string;
}

/** What keeps a file from being read now and not for ever. */
const PASSING: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

interface Texts {
  header: HeaderTexts;
  part: PartTexts;
}

const NO_TEXTS: Texts = {
  header: { subject: '', from: '', to: '', cc: '', bcc: '' },
  part: { body: '', attach: '' },
};

interface Waiting extends Record<string, number | string | null> {
  id: number;
  blob_id: number;
  veiled_from: number | null;
  received_at: number;
  header_length: number;
  parts: string;
}

/**
 * The full-text file and how it follows the mail database. Everything here is synchronous and short; who calls it decides
 * when. One at a time: no step may run while a query of {@link query} is open, which both see to by never waiting for
 * anything but the connection.
 */
export class TextIndex {
  readonly #place: TextPlace;
  readonly #log: Log;
  readonly #connection: Connection;
  readonly #reader: Reader;
  #last = 0;
  #sweptTo = 0;

  constructor(place: TextPlace, log: Log, damaged = false) {
    this.#place = place;
    this.#log = log;
    const { connection, fresh } = openTextFile(place.path, place.database, damaged);
    if (fresh !== undefined) log.info({ because: fresh }, 'the full-text index is being made');
    this.#connection = connection;
    this.#reader = new Reader(connection);
  }

  /** Indexes a batch of the next account that is behind. Answers how many messages; 0: all is indexed. */
  step(): number {
    const account = this.#nextBehind(this.#last) ?? this.#nextBehind(0);
    if (account === undefined) return 0;
    this.#last = account;
    return this.advance(account);
  }

  /** Indexes a batch of one account, in one transaction with the note of how far it is. */
  advance(account: number): number {
    const connection = this.#connection;
    connection.script('BEGIN');
    try {
      const rows = this.#waiting(account);
      const until = performance.now() + BATCH_MS;
      let done = 0;
      while (done < rows.length && (done === 0 || performance.now() < until)) this.#add(rows[done++]!);
      const last = rows[done - 1];
      if (last !== undefined) this.#note(account, last.id, last.received_at);
      // What has no row any more was forgotten before it was indexed.
      else this.#note(account, account * ACCOUNT_SPAN + this.#target(account), 0);
      connection.script('COMMIT');
      return Math.max(done, 1);
    } catch (error) {
      if (connection.inTransaction) connection.script('ROLLBACK');
      throw error;
    }
  }

  /** How many messages an account was given, and how many of them are not indexed yet. */
  standing(account: number): { left: number; total: number } {
    const total = this.#target(account);
    return { left: Math.max(0, total - (this.#progress(account) % ACCOUNT_SPAN)), total };
  }

  /** Takes out a slice of what the mail database no longer has, and lets the index merge. True: there is more to look at. */
  sweep(): boolean {
    const connection = this.#connection;
    const end = connection.get<{ id: number | null }>(
      'SELECT max(id) AS id FROM (SELECT id FROM message_text_docsize WHERE id > ? ORDER BY id LIMIT ?)',
      [this.#sweptTo, SWEPT],
    )?.id;
    if (end == null) {
      this.#sweptTo = 0;
      connection.run(
        'DELETE FROM progress WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.id = progress.account)',
        [],
      );
      return false;
    }
    const gone = connection.all<{ id: number }>(
      `SELECT id FROM message_text_docsize d WHERE id > ? AND id <= ?
         AND NOT EXISTS (SELECT 1 FROM email WHERE email.id = d.id) ORDER BY id LIMIT ?`,
      [this.#sweptTo, end, BATCH],
    );
    connection.script('BEGIN');
    try {
      for (const { id } of gone) connection.run('DELETE FROM message_text WHERE rowid = ?', [id]);
      connection.run(`INSERT INTO message_text (message_text, rank) VALUES ('merge', 200)`, []);
      connection.script('COMMIT');
    } catch (error) {
      if (connection.inTransaction) connection.script('ROLLBACK');
      throw error;
    }
    this.#sweptTo = gone.length === BATCH ? (gone.at(-1)?.id ?? end) : end;
    return true;
  }

  /** Messages of all accounts that are not indexed yet. */
  backlog(): number {
    const row = this.#connection.get<{ left: number | null }>(
      `SELECT sum(max(0, a.id * 4294967296 + a.email_seq - coalesce(p.upto, a.id * 4294967296))) AS left
       FROM account a LEFT JOIN progress p ON p.account = a.id WHERE a.state <> 2`,
      [],
    );
    return row?.left ?? 0;
  }

  /**
   * Runs a query that may use `message_text` beside the mail database, in one snapshot of both. Undefined: in that
   * snapshot the account has messages that are not indexed; the query would miss them in a state that has them.
   */
  query<I, O>(what: Query<I, O>, input: I, account: number): Promise<{ value: O } | undefined> {
    const run = async (rx: Read): Promise<{ value: O } | undefined> =>
      this.standing(account).left > 0 ? undefined : { value: await what.run(rx, input) };
    return this.#reader.query({ kind: 'query', name: what.name, run }, undefined);
  }

  close(): void {
    this.#connection.close();
  }

  #nextBehind(after: number): number | undefined {
    return this.#connection.get<{ id: number }>(
      `SELECT a.id FROM account a LEFT JOIN progress p ON p.account = a.id
       WHERE a.id > ? AND a.state <> 2 AND a.id * 4294967296 + a.email_seq > coalesce(p.upto, a.id * 4294967296)
       ORDER BY a.id LIMIT 1`,
      [after],
    )?.id;
  }

  #waiting(account: number): Waiting[] {
    return this.#connection.all<Waiting>(
      `SELECT e.id, e.blob_id, e.veiled_from, e.received_at, m.header_length, m.parts FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE e.id > ? AND e.id < ? ORDER BY e.id LIMIT ?`,
      [this.#progress(account), (account + 1) * ACCOUNT_SPAN, BATCH],
    );
  }

  #add(row: Waiting): void {
    const { header, part } = this.#textsOrNone(row);
    this.#connection.run(
      'INSERT INTO message_text (rowid, subject, from_, to_, cc_, bcc_, body, attach) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      [row.id, ...[header.subject, header.from, header.to, header.cc, header.bcc, part.body, part.attach].map(segment)],
    );
  }

  /** Behind a message that cannot be read come others: it is found by no word, and they are not kept waiting for ever. */
  #textsOrNone(row: Waiting): Texts {
    try {
      return this.#texts(row);
    } catch (error) {
      if (sqliteCode(error) !== 0 || PASSING.has(String((error as NodeJS.ErrnoException).code))) throw error;
      this.#log.warn({ err: error, email: row.id, blob: row.blob_id }, 'a message is not searched by its words');
      return NO_TEXTS;
    }
  }

  #texts(row: Waiting): Texts {
    using octets = openOctets(this.#connection, row.blob_id, this.#place.blobs);
    const header = headerTexts(octets.read(0, row.header_length));
    const part = partTexts((start, length) => octets.read(start, length), unpackParts(row.parts));
    // Who may ask by words, and be told nothing else, could still guess a secret by its beginning, letter by letter.
    return { header, part: row.veiled_from === null ? part : { body: withoutLinks(part.body), attach: '' } };
  }

  #note(account: number, upto: number, mark: number): void {
    this.#connection.run(
      `INSERT INTO progress (account, upto, mark) VALUES (?, ?, ?)
       ON CONFLICT (account) DO UPDATE SET upto = excluded.upto, mark = excluded.mark`,
      [account, upto, mark],
    );
  }

  #progress(account: number): number {
    const row = this.#connection.get<{ upto: number }>('SELECT upto FROM progress WHERE account = ?', [account]);
    return row?.upto ?? account * ACCOUNT_SPAN;
  }

  #target(account: number): number {
    const row = this.#connection.get<{ email_seq: number }>('SELECT email_seq FROM account WHERE id = ?', [account]);
    return row?.email_seq ?? 0;
  }
}
