import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { DatabaseConnection, SQLITE, sqliteCode } from '../engine/connection.ts';

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

/**
 * Opens the full-text file with the mail database attached read-only: a query reads both in one snapshot. Rebuilds a
 * file that is damaged, of another database or version, or ahead of the mail database (restored from a backup).
 * `damaged`: damage was detected in use, although the file opens. Throws if a rebuild fails.
 */
export function openTextFile(
  path: string,
  database: string,
  damaged = false,
): { connection: DatabaseConnection; fresh: string | undefined } {
  try {
    const connection = open(path, database);
    const flaw = damaged ? 'it was damaged' : flawOf(connection);
    if (flaw === undefined) return { connection, fresh: undefined };
    connection.close();
    return { connection: anew(path, database), fresh: flaw };
  } catch (error) {
    if (!isDamaged(error)) throw error;
    return { connection: anew(path, database), fresh: 'it was damaged' };
  }
}

/** Reports whether an error means that the file is corrupt. */
export function isDamaged(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.CORRUPT || code === NOT_A_DATABASE;
}

function open(path: string, database: string): DatabaseConnection {
  const db = new DatabaseSync(path, { timeout: 5000 });
  try {
    // A rollback journal: new pages, which most are, are written once, in a write-ahead log twice.
    db.exec(`PRAGMA journal_mode = TRUNCATE; ${MODES}`);
    db.prepare('ATTACH ? AS mail').run(`${pathToFileURL(database).href}?mode=ro`);
    db.exec('PRAGMA main.cache_size = -16384; PRAGMA mail.cache_size = -16384');
    return new DatabaseConnection(db);
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
function anew(path: string, database: string): DatabaseConnection {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
  const connection = open(path, database);
  try {
    connection.script(`BEGIN IMMEDIATE; ${SCHEMA}`);
    connection.run('INSERT INTO origin (born) VALUES (?)', [bornOf(connection)]);
    connection.script(`PRAGMA user_version = ${VERSION}; COMMIT`);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Reason why the file must be rebuilt, or undefined. */
function flawOf(connection: DatabaseConnection): string | undefined {
  const version = connection.get<{ user_version: number }>('PRAGMA main.user_version', [])?.user_version;
  if (version !== VERSION) return version === 0 ? 'there was none' : 'it is of another version';
  const born = connection.get<{ born: number }>('SELECT born FROM origin', [])?.born;
  if (born !== bornOf(connection)) return 'it is of another database';
  const ahead = connection.get(
    `SELECT p.account FROM progress p JOIN account a ON a.id = p.account LEFT JOIN email e ON e.id = p.upto
     WHERE p.upto % 4294967296 > a.email_seq OR e.received_at <> p.mark LIMIT 1`,
    [],
  );
  return ahead === undefined ? undefined : 'the database was put back to an earlier time';
}

/** Creation time of the mail database, ms, which identifies it. */
function bornOf(connection: DatabaseConnection): number {
  const row = connection.get<{ at: number | null }>('SELECT min(at) AS at FROM mail.migration', []);
  return row?.at ?? 0;
}
