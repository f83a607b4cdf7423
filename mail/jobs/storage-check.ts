import { blobBytes } from '../store/blob/content.ts';
import { BlobUnreadable, isUnreadable } from '../store/blob/unreadable.ts';
import { lookup } from '../store/engine/types.ts';
import type { MailStore } from '../store/store.ts';
import type { Job } from './scheduler.ts';

/** Newest blobs that are checked: at most 8 MB of pages and as many calls of stat. */
export const CHECKED_BLOBS = 2_000;
const DAY_MS = 24 * 3_600_000;

/** The newest blobs in files. Reads their rows, so that a damaged page among them is found too. */
export const newestFiles = lookup('newest-files', (rx): Promise<{ id: number; file: string; size: number }[]> =>
  rx.all<{ id: number; file: string; size: number }>(
    `SELECT id, file, size FROM blob WHERE id > (SELECT max(id) - ${CHECKED_BLOBS} FROM blob) AND file IS NOT NULL`,
  ),
);

/** True once a message was stored. */
export const hasBlobs = lookup(
  'has-blobs',
  async (rx): Promise<boolean> => (await rx.get('SELECT 1 FROM blob LIMIT 1')) !== undefined,
);

/** Checks at the start and daily that the newest large messages are whole: a failing disk or restore shows there first. */
export class StorageCheck implements Job {
  readonly name = 'storage-check';
  readonly everyMs = DAY_MS;
  readonly firstMs = 1_000;
  readonly #store: MailStore;

  constructor(store: MailStore) {
    this.#store = store;
  }

  async run(stop?: AbortSignal): Promise<void> {
    // A new box has nothing to check, and needs no reader thread for it.
    if (!(await this.#store.read(hasBlobs, undefined))) return;
    for (const { id, file, size } of await this.#store.scan(newestFiles, undefined)) {
      if (stop?.aborted === true) return;
      const problem = await this.#problem(id, file, size);
      if (problem === undefined) continue;
      // A file is removed after its row: one without a row was just purged.
      const row = await this.#store.read(blobBytes, { blob: id, start: 0, length: 0 });
      if (row !== undefined) this.#store.reportUnreadable(id, problem);
    }
  }

  async #problem(id: number, file: string, size: number): Promise<Error | undefined> {
    try {
      const found = await this.#store.files.size(file);
      return found >= size ? undefined : new BlobUnreadable(id, `it ends at ${found} of ${size} octets`);
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return error as Error;
    }
  }
}
