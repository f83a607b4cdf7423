import { closeSync, readSync } from 'node:fs';
import { INLINE_LIMIT } from '../../store/blob/blob.ts';
import { openBlobFile } from '../../store/blob/open-blob-file.ts';
import { isUnreadable } from '../../store/blob/unreadable.ts';
import { query, type Read } from '../../store/engine/types.ts';
import { redacted } from '../../agents/quarantine/redact.ts';
import type { HeaderRow } from './columns/column-source.ts';
import { ColumnCache } from './columns/column-cache.ts';
import { storedColumns } from './columns/stored-columns.ts';
import type { MessageRowFacts, SearchRow, SearchSource } from './evaluate.ts';
import { findMessages, type FindInput } from './find.ts';
import type { FindOutcome } from './find-order.ts';

interface StoredRow extends SearchRow {
  headerLength: number;
  /** Header in the blob as latin1, if it was read with those of other messages. */
  head: string | null;
  /** The blob, if it was read with those of other messages. */
  blobOctets: Uint8Array | undefined;
  /** Octets of trace and blob. */
  size: number;
  trace: string;
  blob: number;
  /** Offset in the blob from which the content is redacted for this reader. */
  redactedFrom: number | null;
  /** It is redacted for some reader. */
  isRedacted: boolean;
}

/** Columns of the mailboxes that this thread searched. */
const cache = new ColumnCache();

/**
 * A search that needs rows or message octets, or an order; for the reader thread, since it may read a whole mailbox.
 * `blobs`: directory of the blob files. Agents do not find messages by redacted content.
 */
export const imapSearch = query(
  'imap-search',
  async (
    rx,
    input: SearchTarget & { find: FindInput; cancelled?: Int32Array },
  ): Promise<{ outcome: FindOutcome; unreadable: UnreadableBlob[] }> => {
    const unreadable: UnreadableBlob[] = [];
    const messages = storedMessages(rx, input, unreadable);
    // The directory distinguishes the databases of one process.
    const key = JSON.stringify([input.blobs, input.account, input.mailbox]);
    const columns = cache.open(key);
    const headers = (uids: readonly number[]): Promise<HeaderRow[]> => headersOf(rx, input, uids, messages);
    try {
      const isCancelled = (): boolean => input.cancelled !== undefined && Atomics.load(input.cancelled, 0) !== 0;
      const source = storedColumns(rx, input, headers);
      const outcome = await findMessages(input.find, { messages, source, columns, isCancelled });
      if (columns.length > 2 * input.find.total + 10_000) cache.drop(key);
      return { outcome, unreadable };
    } finally {
      cache.trim();
    }
  },
);

/** Headers for the columns; those of long or damaged messages are read one by one. */
async function headersOf(
  rx: Read,
  target: SearchTarget,
  uids: readonly number[],
  messages: SearchSource<StoredRow>,
): Promise<HeaderRow[]> {
  const found: HeaderRow[] = [];
  for (const row of await withHeads(rx, await rowsOf(rx, target, uids, false))) {
    const octets = await messages.header(row);
    // A damaged message has only its trace here: it is not kept, so that each search tries again.
    found.push({ uid: row.uid, header: octets.length < row.traceLength + row.headerLength ? undefined : octets });
  }
  return found;
}

interface UnreadableBlob {
  blob: number;
  why: string;
}

const MAX_REPORTED = 100;

interface SearchTarget {
  account: number;
  mailbox: number;
  blobs: string;
  isPerson: boolean;
}

function storedMessages(rx: Read, target: SearchTarget, unreadable: UnreadableBlob[]): SearchSource<StoredRow> {
  /** Reads only the trace of a damaged message: it must not fail the search of the others. */
  const readable = async (row: StoredRow, length: number): Promise<Buffer> => {
    try {
      return await bytesOf(rx, row, target.blobs, length);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if (unreadable.length < MAX_REPORTED) unreadable.push({ blob: row.blob, why: (error as Error).message });
      return Buffer.from(row.trace, 'latin1');
    }
  };
  const headerOf = async (row: StoredRow): Promise<string> => {
    const octets = await readable(row, row.headerLength);
    return octets.toString('latin1');
  };
  // Counts the messages of the page before, and those of them that were read whole.
  const page = { rows: 0, wholes: 0 };
  return {
    facts: (uids) => factsOf(rx, target, uids),
    async rows(uids, withParts) {
      // Headers decide most messages of some searches: their bodies are not read ahead.
      const readsAhead = withParts && page.wholes > page.rows / 2;
      const rows = await rowsOf(rx, target, uids, withParts);
      Object.assign(page, { rows: rows.length, wholes: 0 });
      return readsAhead ? withBlobs(rx, rows) : withHeads(rx, rows);
    },
    header: (row) => (row.head === null ? headerOf(row) : row.trace + row.head),
    whole(row) {
      page.wholes++;
      if (row.blobOctets === undefined) return readable(row, row.size - row.traceLength);
      return row.trace === '' ? row.blobOctets : Buffer.concat([Buffer.from(row.trace, 'latin1'), row.blobOctets]);
    },
    pause: () => rx.pause?.(),
  };
}

function factsOf(rx: Read, { account, mailbox }: SearchTarget, uids: readonly number[]): Promise<MessageRowFacts[]> {
  return rx.all<{
    uid: number;
    size: number;
    receivedAt: number;
    sentDay: number;
    savedAt: number;
    emailId: number;
    threadId: number;
  }>(
    `SELECT n.uid, n.size, n.received_at AS receivedAt, e.sent_day AS sentDay, n.save_at AS savedAt,
       n.email_id AS emailId, n.thread_id AS threadId
     FROM entry n JOIN email e ON e.id = n.email_id
     WHERE n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ? ORDER BY n.uid`,
    mailbox,
    JSON.stringify(uids),
    account,
  );
}

async function rowsOf(
  rx: Read,
  { account, mailbox, isPerson }: SearchTarget,
  uids: readonly number[],
  withParts: boolean,
): Promise<StoredRow[]> {
  const rows = await rx.all<{
    uid: number;
    size: number;
    parts: string;
    header_length: number;
    trace: string;
    blob_id: number;
    redacted_from: number | null;
  }>(
    `SELECT n.uid, n.size, iif(? = 1, m.parts, '') AS parts, m.header_length, e.trace, e.blob_id, e.redacted_from
     FROM entry n JOIN email e ON e.id = n.email_id JOIN email_meta m ON m.email_id = n.email_id
     WHERE n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ? ORDER BY n.uid`,
    Number(withParts),
    mailbox,
    JSON.stringify(uids),
    account,
  );
  return rows.map((row) => ({
    uid: row.uid,
    size: row.size,
    head: null,
    blobOctets: undefined,
    isRedacted: row.redacted_from !== null,
    parts: row.parts,
    traceLength: row.trace.length,
    headerLength: row.header_length,
    trace: row.trace,
    blob: row.blob_id,
    redactedFrom: isPerson ? null : row.redacted_from,
  }));
}

/** Octets up to which headers are read together: a header of usual length costs no look-up of its own. */
const SHORT_HEADER = 16_384;

/** Adds short headers in ASCII; none if one is damaged: each is then read alone, and fails alone. */
async function withHeads(rx: Read, rows: StoredRow[]): Promise<StoredRow[]> {
  const heads = await headsOf(rx, rows);
  for (const row of rows) row.head ??= heads.get(row.blob)?.slice(0, row.headerLength) ?? null;
  return rows;
}

async function headsOf(rx: Read, rows: readonly StoredRow[]): Promise<Map<number, string>> {
  const wanted = rows.filter((row) => row.head === null && !row.isRedacted && row.headerLength <= SHORT_HEADER);
  if (wanted.length === 0) return new Map();
  try {
    const found = await rx.all<{ id: number; octets: number; head: string | null }>(
      `SELECT b.id, CAST(j.value ->> 1 AS INTEGER) AS octets,
         CAST(substr(b.data, 1, CAST(j.value ->> 1 AS INTEGER)) AS TEXT) AS head
       FROM json_each(?, '$') j CROSS JOIN blob b ON b.id = CAST(j.value ->> 0 AS INTEGER) WHERE b.file IS NULL`,
      JSON.stringify(wanted.map((row) => [row.blob, row.headerLength])),
    );
    return new Map(found.flatMap(({ id, octets, head }) => (isWhole(head, octets) ? [[id, head]] : [])));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return new Map();
  }
}

/** Octets of messages that are read ahead at once. */
const MAX_AHEAD = 1024 * 1024;

/** Adds the blobs of messages that are stored in rows, as many as fit into memory, and the headers of the others. */
async function withBlobs(rx: Read, rows: StoredRow[]): Promise<StoredRow[]> {
  let left = MAX_AHEAD;
  const isShort = (row: StoredRow): boolean => !row.isRedacted && row.size - row.traceLength <= INLINE_LIMIT;
  const wanted = rows.filter((row) => isShort(row) && (left -= row.size) >= 0);
  const blobs = await blobsOf(rx, wanted);
  for (const row of wanted) {
    const octets = blobs.get(row.blob);
    // A shorter one is damaged, and is read alone.
    if (octets?.byteLength !== row.size - row.traceLength) continue;
    row.blobOctets = octets;
    row.head = octets.toString('latin1', 0, row.headerLength);
  }
  return withHeads(rx, rows);
}

async function blobsOf(rx: Read, rows: readonly StoredRow[]): Promise<Map<number, Buffer>> {
  try {
    const found = await rx.all<{ id: number; data: Uint8Array }>(
      'SELECT id, data FROM blob WHERE id IN (SELECT value FROM json_each(?)) AND file IS NULL AND data IS NOT NULL',
      JSON.stringify(rows.map(({ blob }) => blob)),
    );
    return new Map(found.map(({ id, data }) => [id, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return new Map();
  }
}

/** Trace and the first `length` octets of the blob. Reads files synchronously: the thread has no other work. */
async function bytesOf(rx: Read, row: StoredRow, blobs: string, length: number): Promise<Buffer> {
  const found = await rx.get<{ file: string | null; data: Uint8Array | null }>(
    'SELECT file, CASE WHEN file IS NULL THEN substr(data, 1, CAST(? AS INTEGER)) END AS data FROM blob WHERE id = ?',
    length,
    row.blob,
  );
  const trace = Buffer.from(row.trace, 'latin1');
  if (found === undefined) return trace;
  const body =
    found.file === null ? (found.data ?? new Uint8Array(0)) : beginningOf(openBlobFile(blobs, found.file), length);
  return Buffer.concat([trace, row.redactedFrom === null ? body : redacted(body, 0, row.redactedFrom)]);
}

/** True for a header of which each character is an octet: octets above 127 are none in a text of SQLite. */
function isWhole(head: string | null, octets: number): head is string {
  return head?.length === octets && !/[^\0-\x7f]/.test(head);
}

/** Reads only the begin of an open file, and closes it: searches read headers far more often than attachments. */
function beginningOf(file: number, length: number): Buffer {
  try {
    const octets = Buffer.allocUnsafeSlow(length);
    let size = 0;
    for (let read = -1; size < length && read !== 0; size += read)
      read = readSync(file, octets, size, length - size, size);
    return octets.subarray(0, size);
  } finally {
    closeSync(file);
  }
}
