import type { ImapStore, MessageRow } from '../imap-store.ts';
import { isSectionItem, type FetchRequest } from './items.ts';

/** Octets that are read ahead at once. */
const MAX_OCTETS = 256 * 1024;
/** Messages up to this size are stored in their row, and can be read by one statement. */
const MAX_MESSAGE = 64 * 1024;

/** A row, and the octets of its blob from the first on as far as the request needs them. */
export interface ReadRow {
  row: MessageRow;
  /** Undefined: read them by {@link ImapStore.bytes}. */
  blob?: Buffer | undefined;
}

/**
 * Yields the rows with their octets, read by one statement for many small messages. Large, redacted and damaged ones come
 * without, as do all for a request that decodes parts.
 */
export async function* readAhead(
  store: ImapStore,
  rows: readonly MessageRow[],
  request: FetchRequest,
): AsyncGenerator<ReadRow[]> {
  const isPlain = request.items.every((item) => item.kind !== 'binary' && item.kind !== 'binary-size');
  const headersOnly = isPlain && request.items.filter(isSectionItem).every(isHeader);
  const needed = (row: MessageRow): number => (headersOnly ? headerOctets(row) : row.content.length);
  const isSmall = (row: MessageRow): boolean =>
    isPlain && row.content.redactedFrom === null && row.content.length <= MAX_MESSAGE;
  for (const group of groups(rows, (row) => (isSmall(row) ? needed(row) : 0))) {
    const small = group.filter(isSmall);
    const most = Math.max(0, ...small.map(needed));
    const blobs = small.length < 2 ? undefined : await store.beginnings(small.map(blobOf), most);
    yield group.map((row) => ({ row, blob: isSmall(row) ? blobs?.get(row.content.blob) : undefined }));
  }
}

function isHeader({ section: { path, what } }: { section: { path: string; what: string } }): boolean {
  return path === '' && (what === 'header' || what === 'fields' || what === 'fields-not');
}

/** Octets of the blob up to the end of the header. */
function headerOctets({ structure, content }: MessageRow): number {
  return Math.min(structure?.headerLength ?? content.length, content.length);
}

function blobOf({ content }: MessageRow): number {
  return content.blob;
}

/** Successive rows of at most {@link MAX_OCTETS} together. */
function* groups(rows: readonly MessageRow[], octets: (row: MessageRow) => number): Generator<MessageRow[]> {
  let group: MessageRow[] = [];
  let sum = 0;
  for (const row of rows) {
    const size = octets(row);
    if (sum + size > MAX_OCTETS && group.length > 0) {
      yield group;
      group = [];
      sum = 0;
    }
    group.push(row);
    sum += size;
  }
  if (group.length > 0) yield group;
}
