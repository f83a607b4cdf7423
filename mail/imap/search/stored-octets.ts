import { closeSync, readSync } from 'node:fs';
import { redacted } from '../../agents/quarantine/redact.ts';
import { INLINE_LIMIT } from '../../store/blob/blob.ts';
import { openBlobFile } from '../../store/blob/open-blob-file.ts';
import { isUnreadable } from '../../store/blob/unreadable.ts';
import type { Read } from '../../store/engine/types.ts';
import type { AsciiText } from './lacks-texts.ts';
import type { SearchRow } from './search-source.ts';

/** A message of the store, with what was read of it. */
export interface FoundMessage extends SearchRow {
  headerLength: number;
  /** Header in the blob as latin1, if it was read with those of other messages. */
  head: string | null;
  /** The blob, if it was read with those of other messages and is not ASCII. */
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

/** Octets up to which headers are read together: a header of usual length costs no look-up of its own. */
const SHORT_HEADER = 16_384;

/** Adds short headers in ASCII; none if one is damaged: each is then read alone, and fails alone. */
export async function withHeads(rx: Read, rows: FoundMessage[]): Promise<FoundMessage[]> {
  const heads = await headsOf(rx, rows);
  for (const row of rows) row.head ??= heads.get(row.blob)?.slice(0, row.headerLength) ?? null;
  return rows;
}

async function headsOf(rx: Read, rows: readonly FoundMessage[]): Promise<Map<number, string>> {
  const wanted = rows.filter((row) => row.head === null && !row.isRedacted && row.headerLength <= SHORT_HEADER);
  if (wanted.length === 0) return new Map();
  try {
    const found = await rx.all<{ id: number; octets: number; head: string | null }>(
      `SELECT b.id, CAST(j.value ->> 1 AS INTEGER) AS octets,
         CAST(substr(b.data, 1, CAST(j.value ->> 1 AS INTEGER)) AS TEXT) AS head
       FROM json_each(?, '$') j CROSS JOIN blob b ON b.id = CAST(j.value ->> 0 AS INTEGER) WHERE b.file IS NULL`,
      JSON.stringify(wanted.map((row) => [row.blob, row.headerLength])),
    );
    return new Map(found.flatMap(({ id, octets, head }) => (isAscii(head, octets) ? [[id, head]] : [])));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return new Map();
  }
}

/** Octets of messages that are read ahead at once. */
const MAX_AHEAD = 1024 * 1024;

/** Adds the blobs of messages that are stored in rows, as many as fit into memory, and the headers of the others. */
export async function withBlobs(rx: Read, rows: FoundMessage[]): Promise<FoundMessage[]> {
  let left = MAX_AHEAD;
  const isShort = (row: FoundMessage): boolean => !row.isRedacted && row.size - row.traceLength <= INLINE_LIMIT;
  const wanted = rows.filter((row) => isShort(row) && (left -= row.size) >= 0);
  const texts = await textsOf(rx, wanted);
  for (const row of wanted) {
    row.ascii = asciiOf(row, texts.get(row.blob) ?? '');
    if (row.ascii !== undefined) row.head = row.ascii.text.slice(row.traceLength, row.ascii.headerLength);
  }
  const others = wanted.filter(({ ascii }) => ascii === undefined);
  const blobs = others.length === 0 ? new Map<number, Buffer>() : await blobsOf(rx, others);
  for (const row of others) {
    const octets = blobs.get(row.blob);
    // A shorter one is damaged, and is read alone.
    if (octets?.byteLength !== row.size - row.traceLength) continue;
    row.blobOctets = octets;
    row.head = octets.toString('latin1', 0, row.headerLength);
  }
  return withHeads(rx, rows);
}

/** Trace and blob as text; undefined if an octet is not ASCII, or is missing. */
function asciiOf({ trace, size, headerLength }: FoundMessage, blob: string): AsciiText | undefined {
  const text = trace + blob;
  return isAscii(text, size) ? { text, headerLength: trace.length + headerLength } : undefined;
}

/** Blobs as text; none if one cannot be read. */
async function textsOf(rx: Read, rows: readonly FoundMessage[]): Promise<Map<number, string>> {
  try {
    const found = await rx.all<{ id: number; text: string | null }>(
      `SELECT b.id, CAST(b.data AS TEXT) AS text FROM json_each(?) j CROSS JOIN blob b ON b.id = j.value
       WHERE b.file IS NULL AND b.data IS NOT NULL`,
      JSON.stringify(rows.map(({ blob }) => blob)),
    );
    return new Map(found.map(({ id, text }) => [id, text ?? '']));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return new Map();
  }
}

async function blobsOf(rx: Read, rows: readonly FoundMessage[]): Promise<Map<number, Buffer>> {
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
export async function bytesOf(rx: Read, row: FoundMessage, blobs: string, length: number): Promise<Buffer> {
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

/**
 * True for a text of that many octets, each an ASCII character. In UTF-8 each other character takes several octets, and so does
 * what stands for an octet that is none.
 */
function isAscii(text: string | null, octets: number): text is string {
  return text?.length === octets && Buffer.byteLength(text) === octets;
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
