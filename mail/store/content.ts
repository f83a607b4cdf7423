import { type Query, query, type Read } from './engine/types.ts';

/** Where the bytes of a message are: a few trace header lines of this recipient's own, then the blob. */
export interface ContentRef {
  trace: string;
  blob: number;
  /** Octets of the blob. */
  length: number;
  /** Octet of the blob from which on programs are shown nothing of it; null: they are shown all. */
  veiledFrom: number | null;
}

/** One message's stored facts. Texts are wire-ready latin1. */
export interface MessageRow {
  uid: number;
  emailId: number;
  threadId: number;
  /** RFC822.SIZE: octets of trace and blob together. */
  size: number;
  /** INTERNALDATE, ms UTC. */
  receivedAt: number;
  structure?: { envelope: string; bodyStructure: string; parts: string; headerLength: number };
  content: ContentRef;
}

interface Joined extends Record<string, string | number | null> {
  uid: number;
  email_id: number;
  thread_id: number;
  size: number;
  received_at: number;
  trace: string;
  blob_id: number;
  veiled_from: number | null;
}

interface Meta extends Record<string, string | number> {
  email_id: number;
  envelope: string;
  bodystructure: string;
  parts: string;
  header_length: number;
}

/**
 * Rows of the given UIDs, ascending. A message that was expunged a while ago is answered too, as long as it is kept:
 * a session that has not been told of the expunge may still ask for it. Those of another account are not there.
 */
export const messageRows = query(
  'message-rows',
  async (
    rx,
    input: { account: number; mailbox: number; uids: readonly number[]; structure: boolean },
  ): Promise<MessageRow[]> => {
    const uids = JSON.stringify(input.uids);
    const rows = await rx.all<Joined>(
      `SELECT n.uid, n.email_id, e.thread_id, e.size, n.received_at, e.trace, e.blob_id, e.veiled_from FROM entry n JOIN email e ON e.id = n.email_id
       WHERE n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ? ORDER BY n.uid`,
      input.mailbox,
      uids,
      input.account,
    );
    const missing = rows.length === input.uids.length ? [] : await expungedRows(rx, input, uids);
    const all = missing.length === 0 ? rows : [...rows, ...missing].sort((a, b) => a.uid - b.uid);
    const meta = input.structure ? await metaOf(rx, all) : undefined;
    return all.map((row) => toRow(row, meta?.get(row.email_id)));
  },
);

function expungedRows(rx: Read, from: { account: number; mailbox: number }, uids: string): Promise<Joined[]> {
  return rx.all<Joined>(
    `SELECT n.uid, n.email_id, e.thread_id, e.size, n.received_at, e.trace, e.blob_id, e.veiled_from FROM expunged n JOIN email e ON e.id = n.email_id
     WHERE n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ?`,
    from.mailbox,
    uids,
    from.account,
  );
}

async function metaOf(rx: Read, rows: readonly Joined[]): Promise<Map<number, Meta>> {
  const found = await rx.all<Meta>(
    `SELECT email_id, envelope, bodystructure, parts, header_length FROM email_meta
     WHERE email_id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(rows.map((row) => row.email_id)),
  );
  return new Map(found.map((row) => [row.email_id, row]));
}

function toRow(row: Joined, meta: Meta | undefined): MessageRow {
  return {
    uid: row.uid,
    emailId: row.email_id,
    threadId: row.thread_id,
    size: row.size,
    receivedAt: row.received_at,
    content: {
      trace: row.trace,
      blob: row.blob_id,
      length: row.size - row.trace.length,
      veiledFrom: row.veiled_from,
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

/** Octets of a blob that is in its row, or the file that has them. */
export const blobBytes: Query<
  { blob: number; start: number; length: number },
  { data: Uint8Array } | { file: string } | undefined
> = query('blob-bytes', async (rx, input) => {
  const row = await rx.get<{ file: string | null; data: Uint8Array | null }>(
    'SELECT file, CASE WHEN file IS NULL THEN substr(data, ?, ?) END AS data FROM blob WHERE id = ?',
    input.start + 1,
    input.length,
    input.blob,
  );
  if (row === undefined) return undefined;
  return row.file === null ? { data: row.data ?? new Uint8Array(0) } : { file: row.file };
});

/** Which of these files a blob row names. */
export const namedFiles = query('named-files', async (rx, input: { files: string[] }): Promise<string[]> => {
  const rows = await rx.all<{ file: string }>(
    'SELECT file FROM blob WHERE file IN (SELECT value FROM json_each(?))',
    JSON.stringify(input.files),
  );
  return rows.map((row) => row.file);
});
