import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Connection, SQLITE, sqliteCode } from '../engine/connection.ts';

/** Raised when what is indexed, or how, changes: the file is made again. */
const VERSION = 1;

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
-- rowid = email id. The words come as mail/message/words.ts makes them; here they are only parted at blanks.
CREATE VIRTUAL TABLE message_text USING fts5(subject, from_, to_, cc_, bcc_, body, attach,
  content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co M*'");`;

/**
 * Opens the full-text file with the mail database beside it, read-only, under one connection: a query sees both in one
 * snapshot. A file that is damaged, of another database, of another version or ahead of the mail database (which came
 * out of a backup) is made anew: everything in it can be made again. `damaged`: its use has shown so, though it opens.
 * Throws when not even that can be done.
 */
export function openTextFile(
  path: string,
  database: string,
  damaged = false,
): { connection: Connection; fresh: string | undefined } {
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

/** The file itself is no longer to be trusted. */
export function isDamaged(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.CORRUPT || code === NOT_A_DATABASE;
}

function open(path: string, database: string): Connection {
  const db = new DatabaseSync(path, { timeout: 5000 });
  try {
    // Losing the last second in a power cut is allowed here: progress goes with what it tells of.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY');
    db.prepare('ATTACH ? AS mail').run(`${pathToFileURL(database).href}?mode=ro`);
    db.exec('PRAGMA main.cache_size = -16384; PRAGMA mail.cache_size = -16384');
    return new Connection(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Nobody else has the file open. Removing opens nothing, so no lock of SQLite's is lost. */
function anew(path: string, database: string): Connection {
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

/** Why the file cannot be gone on with. */
function flawOf(connection: Connection): string | undefined {
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

/** When the mail database was made, in ms: no two are the same. */
function bornOf(connection: Connection): number {
  const row = connection.get<{ at: number | null }>('SELECT min(at) AS at FROM mail.migration', []);
  return row?.at ?? 0;
}
