import { lookup, type Query, query, type Read } from '../engine/types.ts';

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

interface Joined extends Record<string, string | number | null> {
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

interface Meta extends Record<string, string | number> {
  email_id: number;
  envelope: string;
  bodystructure: string;
  parts: string;
  header_length: number;
  preview: string;
}

/**
 * Rows of the given UIDs, ascending, including expunged messages while they are stored: a session that was not notified
 * of the expunge may still fetch them. Messages of other accounts are excluded.
 */
export const messageRows = query(
  'message-rows',
  async (
    rx,
    input: { account: number; mailbox: number; uids: readonly number[]; structure: boolean; preview?: boolean },
  ): Promise<StoredMessageRow[]> => {
    const uids = JSON.stringify(input.uids);
    const rows = await rx.all<Joined>(
      `SELECT n.uid, n.email_id, e.thread_id, e.size, n.received_at, e.trace, e.blob_id, e.redacted_from, n.save_at FROM entry n JOIN email e ON e.id = n.email_id
       WHERE n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ? ORDER BY n.uid`,
      input.mailbox,
      uids,
      input.account,
    );
    const missing = rows.length === input.uids.length ? [] : await expungedRows(rx, input, uids);
    const all = missing.length === 0 ? rows : [...rows, ...missing].sort((a, b) => a.uid - b.uid);
    const meta = input.structure || input.preview === true ? await metaOf(rx, all) : undefined;
    return all.map((row) => toRow(row, meta?.get(row.email_id), input.preview === true));
  },
);

function expungedRows(rx: Read, from: { account: number; mailbox: number }, uids: string): Promise<Joined[]> {
  return rx.all<Joined>(
    `SELECT n.uid, n.email_id, e.thread_id, e.size, n.received_at, e.trace, e.blob_id, e.redacted_from, NULL AS save_at FROM expunged n JOIN email e ON e.id = n.email_id
     WHERE n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ?`,
    from.mailbox,
    uids,
    from.account,
  );
}

async function metaOf(rx: Read, rows: readonly Joined[]): Promise<Map<number, Meta>> {
  const found = await rx.all<Meta>(
    `SELECT email_id, envelope, bodystructure, parts, header_length, preview FROM email_meta
     WHERE email_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(rows.map((row) => row.email_id)),
  );
  return new Map(found.map((row) => [row.email_id, row]));
}

function toRow(row: Joined, meta: Meta | undefined, withPreview: boolean): StoredMessageRow {
  return {
    uid: row.uid,
    emailId: row.email_id,
    threadId: row.thread_id,
    size: row.size,
    receivedAt: row.received_at,
    savedAt: row.save_at,
    ...(meta && withPreview && { preview: meta.preview }),
    content: {
      trace: row.trace,
      blob: row.blob_id,
      length: row.size - row.trace.length,
      redactedFrom: row.redacted_from,
    },
    ...(meta && {
      structure: {
        envelope: meta.envelope,
        bodyStructure: meta.bodystructure,
        parts: meta.parts,
        headerLength: meta.header_length,
      },
    }),
  };
}

/** Octets of an inline blob, or the name of its file, with the size of the whole. */
export const blobBytes: Query<
  { blob: number; start: number; length: number },
  (({ data: Uint8Array } | { file: string }) & { size: number }) | undefined
> = lookup('blob-bytes', async (rx, input) => {
  const row = await rx.get<{ size: number; file: string | null; data: Uint8Array | null }>(
    'SELECT size, file, CASE WHEN file IS NULL THEN substr(data, CAST(? AS INTEGER), CAST(? AS INTEGER)) END AS data FROM blob WHERE id = ?',
    input.start + 1,
    input.length,
    input.blob,
  );
  if (row === undefined) return undefined;
  const { size, file } = row;
  return file === null ? { size, data: row.data ?? new Uint8Array(0) } : { size, file };
});

/** Those of the files that a blob row names. */
export const namedFiles = query('named-files', async (rx, input: { files: string[] }): Promise<string[]> => {
  const rows = await rx.all<{ file: string }>(
    `SELECT file FROM blob WHERE file IN (SELECT value FROM json_each(?, '$'))`,
    JSON.stringify(input.files),
  );
  return rows.map((row) => row.file);
});
