import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { DatabaseConnection, SQLITE, sqliteCode } from '../engine/connection.ts';
import { BlockingPostgres } from '../engine/postgres/blocking.ts';
import { isPostgres } from '../engine/postgres/url.ts';
import { Reader } from '../engine/reader.ts';
import { StoreBusy } from '../engine/types.ts';
import { createRemovedWords, REMOVED_WORDS } from './removed-words.ts';
import { attachedMail, type MailSource, separateMail } from './mail-source.ts';

/** Format version; a change rebuilds the file. */
const VERSION = 2;

/** SQLITE_NOTADB. */
const NOT_A_DATABASE = 26;

const SCHEMA = `
CREATE TABLE progress (
  account INTEGER PRIMARY KEY,           -- of the mail database
  upto INTEGER NOT NULL,                 -- emails up to this id are indexed
  mark INTEGER NOT NULL                  -- received_at of that email, to know it again
) STRICT;
CREATE TABLE origin (
  born INTEGER NOT NULL                  -- of the mail database that this file follows
) STRICT;
-- rowid = email id. The words come as mail/message/word-tokens.ts makes them; here they are only parted at blanks.
CREATE VIRTUAL TABLE message_text USING fts5(subject, from_, to_, cc_, bcc_, body, attach,
  content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co M*'");
-- Octets of words in memory: a segment of the 1 MiB by default is merged more often, one of 32 MiB sorted at more CPU.
INSERT INTO message_text (message_text, rank) VALUES ('hashsize', 8388608);
-- Segments of a level before they are merged: each merge writes their words again.
INSERT INTO message_text (message_text, rank) VALUES ('automerge', 16);
INSERT INTO message_text (message_text, rank) VALUES ('crisismerge', 32);`;

/** An open full-text file with the mail that it follows. */
interface OpenTextFile {
  connection: DatabaseConnection;
  source: MailSource;
}

/**
 * Opens the full-text file and the mail database read-only: a query reads both in one snapshot. SQLite's is attached.
 * Rebuilds a file that is damaged, of another database or version, or ahead of the mail database (restored from a
 * backup). `damaged`: damage was detected in use, although the file opens. Throws if a rebuild fails.
 */
export function openTextFile(
  path: string,
  database: string,
  damaged = false,
): OpenTextFile & { fresh: string | undefined } {
  let opened: OpenTextFile | undefined;
  try {
    opened = open(path, database);
    const flaw = damaged ? 'it was damaged' : flawOf(opened);
    if (flaw === undefined) {
      createRemovedWords(opened.connection);
      return { ...opened, fresh: undefined };
    }
    close(opened);
    opened = undefined;
    return { ...anew(path, database), fresh: flaw };
  } catch (error) {
    if (opened !== undefined) close(opened);
    if (!isDamaged(error)) throw error;
    return { ...anew(path, database), fresh: 'it was damaged' };
  }
}

function close({ connection, source }: OpenTextFile): void {
  source.close();
  connection.close();
}

/** Reports whether an error means that the file is corrupt. */
export function isDamaged(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.CORRUPT || code === NOT_A_DATABASE;
}

/** Reports an error of a database and not of one message. */
export function isOfDatabase(error: unknown): boolean {
  return sqliteCode(error) !== 0 || error instanceof StoreBusy;
}

function open(path: string, database: string): OpenTextFile {
  const db = new DatabaseSync(path, { timeout: 5000 });
  try {
    // A rollback journal: new pages, which most are, are written once, in a write-ahead log twice.
    db.exec(`PRAGMA journal_mode = TRUNCATE; ${MODES}; PRAGMA main.cache_size = -16384`);
    const connection = new DatabaseConnection(db);
    if (isPostgres(database)) return { connection, source: separateMail(connection, new BlockingPostgres(database)) };
    db.prepare('ATTACH ? AS mail').run(`${pathToFileURL(database).href}?mode=ro`);
    db.exec('PRAGMA mail.cache_size = -16384');
    return { connection, source: attachedMail(connection, new Reader(connection)) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** A power cut may lose the last commits: the progress is in the same file. */
const MODES = 'PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY';

/**
 * Opens the connection that writes to an open full-text file. It writes no page before its commit (`cache_spill`), since
 * that would lock out the other connection of the same thread.
 */
export function openTextWriter(path: string): DatabaseConnection {
  const db = new DatabaseSync(path, { timeout: 5000 });
  db.exec(`PRAGMA journal_mode = TRUNCATE; ${MODES}; PRAGMA cache_size = -8192; PRAGMA cache_spill = OFF`);
  return new DatabaseConnection(db);
}

/** No other connection exists. Removing opens no file, so no SQLite lock is lost. */
function anew(path: string, database: string): OpenTextFile {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
  const opened = open(path, database);
  const { connection, source } = opened;
  try {
    const born = bornOf(source);
    connection.script(`BEGIN IMMEDIATE; ${SCHEMA}; ${REMOVED_WORDS}`);
    connection.run('INSERT INTO origin (born) VALUES (?)', [born]);
    connection.script(`PRAGMA user_version = ${VERSION}; COMMIT`);
    return opened;
  } catch (error) {
    close(opened);
    throw error;
  }
}

/** Reason why the file must be rebuilt, or undefined. */
function flawOf({ connection, source }: OpenTextFile): string | undefined {
  const version = connection.get<{ user_version: number }>('PRAGMA main.user_version', [])?.user_version;
  if (version !== VERSION) return version === 0 ? 'there was none' : 'it is of another version';
  const born = connection.get<{ born: number }>('SELECT born FROM origin', [])?.born;
  if (born !== bornOf(source)) return 'it is of another database';
  return source.isBehind() ? 'the database was put back to an earlier time' : undefined;
}

/** Creation time of the mail database, ms, which identifies it. */
function bornOf({ mail }: MailSource): number {
  const row = mail.get<{ at: number | null }>('SELECT min(at) AS at FROM migration', []);
  return row?.at ?? 0;
}
