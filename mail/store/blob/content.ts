import { flagless, lookup, type Query, query, type Read } from '../engine/types.ts';

/** Content of a message: trace header lines of this recipient, then the blob. */
export interface StoredContent {
  trace: string;
  blob: number;
  /** Octets of the blob. */
  length: number;
  /** Octet of the blob from which agents get redacted content; null: nothing is redacted. */
  redactedFrom: number | null;
}

/** Stored metadata of one message. Texts are wire-ready latin1. */
export interface StoredMessageRow {
  uid: number;
  emailId: number;
  threadId: number;
  /** RFC822.SIZE: octets of trace and blob together. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  /** SAVEDATE, ms UTC; null for an expunged message. */
  savedAt: number | null;
  /** Begin of the text, if requested. */
  preview?: string;
  structure?: { envelope: string; bodyStructure: string; parts: string; headerLength: number };
  content: StoredContent;
}

type RowInput = { account: number; mailbox: number; uids: readonly number[]; structure: boolean; preview?: boolean };

interface PlainRow extends Record<string, string | number | null> {
  uid: number;
  email_id: number;
  thread_id: number;
  size: number;
  received_at: number;
  trace: string;
  blob_id: number;
  redacted_from: number | null;
  save_at: number | null;
}

interface IndexedRow extends PlainRow {
  envelope: string;
  bodystructure: string;
  parts: string;
  header_length: number;
}

/**
 * Rows of the given UIDs, ascending, including expunged messages while they are stored: a session that was not notified
 * of the expunge may still fetch them. Messages of other accounts are excluded.
 */
export const messageRows = query('message-rows', async (rx, input: RowInput): Promise<StoredMessageRow[]> => {
  const all = input.structure
    ? (await allRows<IndexedRow>(rx, input, INDEXED)).map(withStructure)
    : (await allRows<PlainRow>(rx, input, PLAIN)).map(plain);
  return input.preview === true ? withPreviews(rx, all) : all;
});

interface RowStatements {
  /** Those of a list of UIDs. */
  stored: string;
  /** All in a range of UIDs. */
  inRange: string;
  expunged: string;
}

const COLUMNS = 'n.uid, n.email_id, e.thread_id, e.size, n.received_at, e.trace, e.blob_id, e.redacted_from';
const LISTED = 'n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ?';
const IN_RANGE = 'n.mailbox_id = ? AND n.uid BETWEEN ? AND ? AND e.account_id = ?';

const PLAIN: RowStatements = {
  stored: `SELECT ${COLUMNS}, n.save_at FROM entry n JOIN email e ON e.id = n.email_id WHERE ${LISTED} ORDER BY n.uid`,
  inRange: `SELECT ${COLUMNS}, n.save_at FROM entry n JOIN email e ON e.id = n.email_id WHERE ${IN_RANGE} ORDER BY n.uid`,
  expunged: `SELECT ${COLUMNS}, NULL AS save_at FROM expunged n JOIN email e ON e.id = n.email_id WHERE ${LISTED}`,
};

const INDEX = `ifnull(i.envelope, v.envelope) AS envelope, ifnull(i.bodystructure, v.bodystructure) AS bodystructure,
  ifnull(i.parts, v.parts) AS parts, ifnull(i.header_length, v.header_length) AS header_length`;
// The tables of the view email_meta: one look-up of each message instead of two.
const INDEX_JOINS = `LEFT JOIN message_index i ON i.blob_id = e.blob_id
  LEFT JOIN email_meta_v1 v ON i.blob_id IS NULL AND v.email_id = e.id`;

const INDEXED: RowStatements = {
  stored: `SELECT ${COLUMNS}, n.save_at, ${INDEX} FROM entry n JOIN email e ON e.id = n.email_id ${INDEX_JOINS}
     WHERE ${LISTED} ORDER BY n.uid`,
  inRange: `SELECT ${COLUMNS}, n.save_at, ${INDEX} FROM entry n JOIN email e ON e.id = n.email_id ${INDEX_JOINS}
     WHERE ${IN_RANGE} ORDER BY n.uid`,
  expunged: `SELECT ${COLUMNS}, NULL AS save_at, ${INDEX} FROM expunged n JOIN email e ON e.id = n.email_id ${INDEX_JOINS}
     WHERE ${LISTED}`,
};

async function allRows<T extends PlainRow>(rx: Read, input: RowInput, statements: RowStatements): Promise<T[]> {
  const { account, mailbox } = input;
  const { expunged } = statements;
  const rows = await storedRows<T>(rx, input, statements);
  if (rows.length === input.uids.length) return rows;
  const missing = await rx.all<T>(expunged, mailbox, JSON.stringify(input.uids), account);
  return missing.length === 0 ? rows : [...rows, ...missing].sort((a, b) => a.uid - b.uid);
}

/** A range is scanned if it has at most so many UIDs for each one that is wanted: a look-up of each costs more. */
const MAX_SPARSE = 2;

/** Least and greatest UID. The list may be longer than the arguments that a call can have. */
function boundsOf(uids: readonly number[]): [from: number, to: number] {
  return [uids.reduce((a, b) => Math.min(a, b)), uids.reduce((a, b) => Math.max(a, b))];
}

async function storedRows<T extends PlainRow>(
  rx: Read,
  { account, mailbox, uids }: RowInput,
  { stored, inRange }: RowStatements,
): Promise<T[]> {
  if (uids.length === 0) return [];
  const [from, to] = boundsOf(uids);
  if (to - from >= MAX_SPARSE * uids.length) return rx.all<T>(stored, mailbox, JSON.stringify(uids), account);
  const wanted = new Set(uids);
  const found = await rx.all<T>(inRange, mailbox, from, to, account);
  return found.filter(({ uid }) => wanted.has(uid));
}

function plain(row: PlainRow): StoredMessageRow {
  const { size, trace } = row;
  return {
    uid: row.uid,
    emailId: row.email_id,
    threadId: row.thread_id,
    size,
    receivedAt: row.received_at,
    savedAt: row.save_at,
    content: { trace, blob: row.blob_id, length: size - trace.length, redactedFrom: row.redacted_from },
  };
}

function withStructure(row: IndexedRow): StoredMessageRow {
  const stored = plain(row);
  stored.structure = {
    envelope: row.envelope,
    bodyStructure: row.bodystructure,
    parts: row.parts,
    headerLength: row.header_length,
  };
  return stored;
}

async function withPreviews(rx: Read, rows: readonly StoredMessageRow[]): Promise<StoredMessageRow[]> {
  const found = await rx.all<{ email_id: number; preview: string }>(
    'SELECT email_id, preview FROM email_meta WHERE email_id IN (SELECT value FROM json_each(?))',
    JSON.stringify(rows.map(({ emailId }) => emailId)),
  );
  const previews = new Map(found.map(({ email_id, preview }) => [email_id, preview]));
  return rows.map((row) => ({ ...row, preview: previews.get(row.emailId) ?? '' }));
}

/** Octets of an inline blob, or the name of its file, with the size of the whole. */
export const blobBytes: Query<
  { blob: number; start: number; length: number },
  (({ data: Uint8Array } | { file: string }) & { size: number }) | undefined
> = flagless(
  lookup('blob-bytes', async (rx, input) => {
    const row = await rx.get<{ size: number; file: string | null; data: Uint8Array | null }>(
      'SELECT size, file, CASE WHEN file IS NULL THEN substr(data, CAST(? AS INTEGER), CAST(? AS INTEGER)) END AS data FROM blob WHERE id = ?',
      input.start + 1,
      input.length,
      input.blob,
    );
    if (row === undefined) return undefined;
    const { size, file } = row;
    return file === null ? { size, data: row.data ?? new Uint8Array(0) } : { size, file };
  }),
);

/** The first `most` octets of blobs that are stored in rows, without those that are shorter than they should be. */
export const smallBlobs = flagless(
  lookup(
    'small-blobs',
    async (rx, input: { blobs: readonly number[]; most: number }): Promise<{ id: number; data: Uint8Array }[]> => {
      const rows = await rx.all<{ id: number; size: number; data: Uint8Array }>(
        `SELECT id, size, substr(data, 1, CAST(? AS INTEGER)) AS data FROM blob
       WHERE id IN (SELECT value FROM json_each(?)) AND data IS NOT NULL`,
        input.most,
        JSON.stringify(input.blobs),
      );
      return rows.filter(({ size, data }) => data.byteLength >= Math.min(size, input.most));
    },
  ),
);

/** Those of the files that a blob row names. */
export const namedFiles = lookup('named-files', async (rx, input: { files: string[] }): Promise<string[]> => {
  const rows = await rx.all<{ file: string }>(
    `SELECT file FROM blob WHERE file IN (SELECT value FROM json_each(?, '$'))`,
    JSON.stringify(input.files),
  );
  return rows.map((row) => row.file);
});
