import { SQLITE, sqliteCode } from '../engine/connection.ts';
import type { Read, Row } from '../engine/types.ts';

/** Octets of a stored message cannot be read: its file is missing or cut off, or the disk or a database page is damaged. */
export class BlobUnreadable extends Error {
  override readonly name = 'BlobUnreadable';
  /** The octets that could be read, from the requested start. */
  readonly octets: Buffer;

  constructor(blob: number, why: string, { octets, cause }: { octets?: Buffer; cause?: unknown } = {}) {
    super(`blob ${blob} cannot be read: ${why}`, { cause });
    this.octets = octets ?? Buffer.alloc(0);
  }
}

/** Reason that a client gets, where no text can stand in place of the message. */
export const UNREADABLE_REASON =
  'The stored message is damaged on the server. Ask its operator to restore it from a backup.';

/** Text in place of one that cannot be read. */
export const UNREADABLE_TEXT =
  '[This text cannot be read: the stored message is damaged on the server. Ask its operator to restore it from a backup.]';

const FILE_ERRORS = new Set(['ENOENT', 'EIO', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'EUCLEAN', 'EBADMSG', 'ESTALE']);

/** Damaged pages and failed reads of PostgreSQL: data_corrupted, io_error. */
const POSTGRES_ERRORS = new Set(['XX001', '58030']);

/** True for an error that reading one message meets and others do not. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof BlobUnreadable) return true;
  const result = sqliteCode(error);
  if (result === SQLITE.CORRUPT || result === SQLITE.IOERR) return true;
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  return FILE_ERRORS.has(code) || POSTGRES_ERRORS.has(code);
}

/** Returns what is left of a damaged message, so that it does not fail the others of a call. Rethrows other errors. */
export function readableOctets(error: unknown): Buffer {
  if (error instanceof BlobUnreadable) return error.octets;
  throw error;
}

/** Returns what `read` does, or `otherwise` if it meets an unreadable message. */
export function unlessUnreadable<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (error) {
    if (isUnreadable(error)) return otherwise;
    throw error;
  }
}

/** Reads the rows of `ids`, the only parameter of `sql`; one at a time if a damaged page fails all, without that one. */
export async function readableRows<T extends Row>(rx: Read, sql: string, ids: readonly number[]): Promise<T[]> {
  try {
    return await rx.all<T>(sql, JSON.stringify(ids));
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    if (ids.length <= 1) return [];
  }
  const rows: T[] = [];
  for (const id of ids) rows.push(...(await readableRows<T>(rx, sql, [id])));
  return rows;
}
