import { isUnreadable } from '../blob/unreadable.ts';
import type { DatabaseConnection } from '../engine/connection.ts';
import { type BlobRow, type Octets, openOctets, openRow } from './message-octets.ts';

/** Blobs of one statement: where the database is another process, each statement costs more than what it reads. */
const AHEAD = 16;

/** Opens the blobs of a list one after the other, and reads some of them ahead. */
export class BlobsAhead {
  readonly #mail: Pick<DatabaseConnection, 'all' | 'get'>;
  readonly #list: readonly number[];
  readonly #directory: string;
  #read: ReadonlyMap<number, BlobRow> = new Map();
  #end = 0;

  /** `directory` is that of blob files. */
  constructor(mail: Pick<DatabaseConnection, 'all' | 'get'>, list: readonly number[], directory: string) {
    this.#mail = mail;
    this.#list = list;
    this.#directory = directory;
  }

  /** Opens the blob at a position, which is not before that of the last call. A purged one is empty. */
  open(at: number): Octets {
    if (at >= this.#end) this.#readFrom(at);
    const blob = this.#list[at] ?? 0;
    const row = this.#read.get(blob);
    return row === undefined ? openOctets(this.#mail, blob, this.#directory) : openRow(row, this.#directory);
  }

  #readFrom(at: number): void {
    const blobs = this.#list.slice(at, at + AHEAD);
    this.#end = at + AHEAD;
    this.#read = new Map();
    try {
      const rows = this.#mail.all<BlobRow & { id: number }>(
        'SELECT id, file, data FROM blob WHERE id IN (SELECT value FROM json_each(?))',
        [JSON.stringify(blobs)],
      );
      this.#read = new Map(rows.map((row) => [row.id, row]));
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      // A page of one of them is damaged: each is read alone, and fails alone.
    }
  }
}
