import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isUnreadable } from '../blob/unreadable.ts';
import { FileLocator } from '../bucket/file-locator.ts';
import type { MessageBucket } from '../bucket/message-bucket.ts';
import type { Row, Value } from '../engine/types.ts';
import { type BlobProblem, checkBlob, type CheckedBlob } from './blob-check.ts';
import { type DamagedMessage, damagedMessages } from './damaged-messages.ts';

/** Rows that are read at once. */
const PAGE = 100;
/** Damaged messages that are listed; the rest is counted. */
const MAX_LISTED = 1_000;
/** A younger file may belong to a message that is being accepted. */
const GRACE_MS = 3_600_000;

/** Result of a check of a data directory. */
export interface StoreCheck {
  messages: number;
  /** Blobs that were read and compared. */
  checked: number;
  /** Blobs among them without a hash, stored by an old version: only their size was compared. */
  withoutHash: number;
  damaged: number;
  damagedMessages: DamagedMessage[];
  /** Findings of SQLite about the database itself; empty: it is whole. */
  database: string[];
  /** Rows that refer to none, counters that are wrong: one sentence each. */
  inconsistencies: string[];
  /** Files that no row names, left by a crash; the server removes them. */
  unreferencedFiles: number;
}

/** True if nothing is wrong. */
export function isSound({ damaged, database, inconsistencies }: StoreCheck): boolean {
  return damaged === 0 && database.length === 0 && inconsistencies.length === 0;
}

/**
 * Checks a data directory, also while a server uses it, in another process: integrity of the database, each stored
 * message against its hash, and counters. Reads only.
 */
export async function checkStore(dataDir: string, bucket?: MessageBucket): Promise<StoreCheck> {
  const db = new DatabaseSync(join(dataDir, 'mailstead.db'), { timeout: 5_000 });
  try {
    // Without a transaction over all of it: the log of a running server would grow meanwhile.
    db.exec('PRAGMA query_only = 1');
    const rows = <T extends Row>(sql: string, ...values: Value[]): T[] => db.prepare(sql).all(...values) as T[];
    const database = integrity(rows);
    const blobs = await checkBlobs(rows, new FileLocator(dataDir, bucket));
    return {
      messages: guarded(() => rows<{ n: number }>('SELECT count(*) AS n FROM email')[0]?.n ?? 0, 0),
      ...blobs,
      database,
      inconsistencies: database.length > 0 ? [] : inconsistenciesOf(rows),
      unreferencedFiles: guarded(() => unreferenced(rows, join(dataDir, 'blobs')), 0),
    };
  } finally {
    db.close();
  }
}

type Rows = <T extends Row>(sql: string, ...values: Value[]) => T[];

/** Findings of SQLite. A page that cannot be read ends the check with an error instead of a row. */
function integrity(rows: Rows): string[] {
  try {
    return rows<{ integrity_check: string }>('PRAGMA integrity_check(100)')
      .map((row) => row.integrity_check)
      .filter((text) => text !== 'ok');
  } catch (error) {
    return [(error as Error).message];
  }
}

type BlobFindings = Pick<StoreCheck, 'checked' | 'withoutHash' | 'damaged' | 'damagedMessages'>;

async function checkBlobs(rows: Rows, locator: FileLocator): Promise<BlobFindings> {
  const found: BlobFindings = { checked: 0, withoutHash: 0, damaged: 0, damagedMessages: [] };
  const note = async (id: number, problem: BlobProblem): Promise<void> => {
    found.damaged++;
    if (found.damagedMessages.length >= MAX_LISTED) return;
    found.damagedMessages.push(...(await namesOf(rows, id, problem)));
  };
  for (const ids of blobIds(rows)) {
    for (const id of ids) {
      const blob = readBlob(rows, id);
      if (blob === undefined) continue;
      const problem =
        typeof blob === 'object' ? await checkBlob((file, run) => locator.withFile(file, run), blob) : blob;
      // A message that was purged meanwhile has neither a file nor a row.
      if (problem !== undefined && readBlob(rows, id) !== undefined) await note(id, problem);
      if (typeof blob === 'object' && blob.sha256 === null) found.withoutHash++;
      found.checked++;
    }
  }
  return found;
}

/** Messages of a damaged blob; none if their rows cannot be read either. */
async function namesOf(rows: Rows, blob: number, problem: BlobProblem): Promise<DamagedMessage[]> {
  try {
    return await damagedMessages({ all: async (sql, ...values) => rows(sql, ...values) }, blob, problem);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return [];
  }
}

function readBlob(rows: Rows, id: number): (CheckedBlob & Row) | 'unreadable' | undefined {
  return guarded(() => rows<CheckedBlob & Row>(ONE_BLOB, id)[0], 'unreadable');
}

const ONE_BLOB = 'SELECT size, file, data, sha256 FROM blob WHERE id = ?';

/** Ids of all blobs. Where a page with ids is damaged, every number of that range, as no row may hide those after it. */
function* blobIds(rows: Rows): Generator<number[]> {
  const last = guarded(() => rows<{ id: number | null }>('SELECT max(id) AS id FROM blob')[0]?.id ?? 0, 0);
  for (let after = 0; after < last;) {
    const ids = guarded(() => nextIds(rows, after), undefined) ?? Array.from({ length: PAGE }, (_, i) => after + 1 + i);
    if (ids.length === 0) return;
    yield ids;
    after = ids.at(-1) ?? last;
  }
}

function nextIds(rows: Rows, after: number): number[] {
  return rows<{ id: number }>(`SELECT id FROM blob WHERE id > ? ORDER BY id LIMIT ${PAGE}`, after).map(({ id }) => id);
}

const RULES: readonly { sql: string; says: (n: number) => string }[] = [
  {
    sql: 'SELECT count(*) AS n FROM email e WHERE NOT EXISTS (SELECT 1 FROM blob b WHERE b.id = e.blob_id)',
    says: (n) => `${n} messages have no content`,
  },
  {
    sql: 'SELECT count(*) AS n FROM entry n WHERE NOT EXISTS (SELECT 1 FROM email e WHERE e.id = n.email_id)',
    says: (n) => `${n} entries of folders have no message`,
  },
  {
    sql: `SELECT count(*) AS n FROM mailbox b WHERE b.deleted_at IS NULL
      AND b.total <> (SELECT count(*) FROM entry n WHERE n.mailbox_id = b.id)`,
    says: (n) => `${n} folders count another number of messages than they have`,
  },
  {
    sql: `SELECT count(*) AS n FROM mailbox b WHERE b.deleted_at IS NULL
      AND b.uidnext <= coalesce((SELECT max(uid) FROM entry n WHERE n.mailbox_id = b.id), 0)`,
    says: (n) => `${n} folders would give a UID twice`,
  },
];

function inconsistenciesOf(rows: Rows): string[] {
  return RULES.flatMap(({ sql, says }) => {
    const n = rows<{ n: number }>(sql)[0]?.n ?? 0;
    return n === 0 ? [] : [says(n)];
  });
}

function unreferenced(rows: Rows, blobs: string): number {
  let count = 0;
  for (let i = 0; i < 256; i++) {
    const directory = join(blobs, i.toString(16).padStart(2, '0'));
    const files = readdirSync(directory).filter((name) => isOld(join(directory, name)));
    const named = rows<{ n: number }>(
      `SELECT count(*) AS n FROM blob WHERE file IN (SELECT value FROM json_each(?, '$'))`,
      JSON.stringify(files),
    );
    count += files.length - (named[0]?.n ?? 0);
  }
  return count;
}

function isOld(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts !== undefined && Date.now() - facts.mtimeMs > GRACE_MS;
}

/** Returns what `read` does, or `otherwise` if it meets a damaged page. */
function guarded<T, O>(read: () => T, otherwise: O): T | O {
  try {
    return read();
  } catch (error) {
    if (isUnreadable(error)) return otherwise;
    throw error;
  }
}
