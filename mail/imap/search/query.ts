import { closeSync, openSync, readSync } from 'node:fs';
import { blobPath } from '../../store/blob.ts';
import { query, type Read } from '../../store/engine/types.ts';
import { veiled } from '../../store/veil.ts';
import { type Candidates, evaluate, type SearchOutcome, type SearchRow, type SearchSource } from './evaluate.ts';
import type { SearchProgram } from './program.ts';

interface StoredRow extends SearchRow {
  headerLength: number;
  trace: string;
  blob: number;
  /** Octet of the blob from which on who searches is shown nothing of it. */
  veiledFrom: number | null;
}

/**
 * A search that has to look at rows or bytes; for the reader thread. `blobs` is the directory of blob files. Who is no person
 * finds nothing by what programs are not shown.
 */
export const imapSearch = query(
  'imap-search',
  (rx, input: Place & { program: SearchProgram; open: Candidates; now: number }): Promise<SearchOutcome> =>
    evaluate(input.program, input.open, storedMessages(rx, input), { now: input.now }),
);

interface Place {
  account: number;
  mailbox: number;
  blobs: string;
  isPerson: boolean;
}

function storedMessages(rx: Read, place: Place): SearchSource<StoredRow> {
  return {
    rows: (uids) => rowsOf(rx, place, uids),
    header: (row) => bytesOf(rx, row, place.blobs, row.headerLength),
    whole: (row) => bytesOf(rx, row, place.blobs, row.size - row.traceLength),
  };
}

async function rowsOf(rx: Read, { account, mailbox, isPerson }: Place, uids: readonly number[]): Promise<StoredRow[]> {
  const rows = await rx.all<{
    uid: number;
    size: number;
    received_at: number;
    sent_day: number;
    parts: string;
    header_length: number;
    trace: string;
    blob_id: number;
    veiled_from: number | null;
  }>(
    `SELECT n.uid, n.size, n.received_at, e.sent_day, m.parts, m.header_length, e.trace, e.blob_id, e.veiled_from
     FROM entry n JOIN email e ON e.id = n.email_id JOIN email_meta m ON m.email_id = n.email_id
     WHERE n.mailbox_id = ? AND n.uid IN (SELECT value FROM json_each(?)) AND e.account_id = ? ORDER BY n.uid`,
    mailbox,
    JSON.stringify(uids),
    account,
  );
  return rows.map((row) => ({
    uid: row.uid,
    size: row.size,
    receivedAt: row.received_at,
    sentDay: row.sent_day,
    parts: row.parts,
    traceLength: row.trace.length,
    headerLength: row.header_length,
    trace: row.trace,
    blob: row.blob_id,
    veiledFrom: isPerson ? null : row.veiled_from,
  }));
}

/** Trace and the first `length` octets of the blob. Files are read at once: this thread has nothing else to do. */
async function bytesOf(rx: Read, row: StoredRow, blobs: string, length: number): Promise<Buffer> {
  const found = await rx.get<{ file: string | null; data: Uint8Array | null }>(
    'SELECT file, CASE WHEN file IS NULL THEN substr(data, 1, ?) END AS data FROM blob WHERE id = ?',
    length,
    row.blob,
  );
  const trace = Buffer.from(row.trace, 'latin1');
  if (found === undefined) return trace;
  const body =
    found.file === null ? (found.data ?? new Uint8Array(0)) : beginningOf(blobPath(blobs, found.file), length);
  return Buffer.concat([trace, row.veiledFrom === null ? body : veiled(body, 0, row.veiledFrom)]);
}

/** The header of a large message is asked for far more often than its attachments. */
function beginningOf(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const octets = Buffer.allocUnsafeSlow(length);
    let got = 0;
    for (let read = -1; got < length && read !== 0; got += read) read = readSync(file, octets, got, length - got, got);
    return octets.subarray(0, got);
  } finally {
    closeSync(file);
  }
}
