import { isUnreadable } from '../../store/blob/unreadable.ts';
import { query, type Read } from '../../store/engine/types.ts';
import type { HeaderRow } from './columns/column-source.ts';
import { ColumnCache } from './columns/column-cache.ts';
import { storedColumns } from './columns/stored-columns.ts';
import type { MessageRowFacts, SearchSource } from './search-source.ts';
import { findMessages, type FindInput } from './find.ts';
import type { FindOutcome } from './find-order.ts';
import { bytesOf, type FoundMessage, withBlobs, withHeads } from './stored-octets.ts';

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
  messages: SearchSource<FoundMessage>,
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

function storedMessages(rx: Read, target: SearchTarget, unreadable: UnreadableBlob[]): SearchSource<FoundMessage> {
  /** Reads only the trace of a damaged message: it must not fail the search of the others. */
  const readable = async (row: FoundMessage, length: number): Promise<Buffer> => {
    try {
      return await bytesOf(rx, row, target.blobs, length);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      if (unreadable.length < MAX_REPORTED) unreadable.push({ blob: row.blob, why: (error as Error).message });
      return Buffer.from(row.trace, 'latin1');
    }
  };
  const headerOf = async (row: FoundMessage): Promise<string> => {
    const octets = await readable(row, row.headerLength);
    return octets.toString('latin1');
  };
  return {
    facts: (uids) => factsOf(rx, target, uids),
    async rows(uids, reads) {
      const rows = await rowsOf(rx, target, uids, reads !== 'headers');
      return reads === 'messages' ? withBlobs(rx, rows) : withHeads(rx, rows);
    },
    header: (row) => (row.head === null ? headerOf(row) : row.trace + row.head),
    whole(row) {
      if (row.ascii !== undefined) return Buffer.from(row.ascii.text, 'latin1');
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
): Promise<FoundMessage[]> {
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
