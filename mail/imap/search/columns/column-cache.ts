import { resourceLimits } from 'node:worker_threads';
import { MailboxColumns } from './mailbox-columns.ts';

const MB = 1024 * 1024;
/** Memory of all columns of a thread, octets: a third of its heap, as those of one mailbox are read beside the others. */
const MAX_OCTETS = Math.min(96, (resourceLimits.maxOldGenerationSizeMb ?? 512) / 3) * MB;

/**
 * Columns of the mailboxes that were searched last, by a key that no two mailboxes share. A search that still uses dropped
 * ones goes on with them.
 */
export class ColumnCache {
  readonly #columns = new Map<string, MailboxColumns>();
  readonly #maxOctets: number;

  constructor(maxOctets = MAX_OCTETS) {
    this.#maxOctets = maxOctets;
  }

  /** The columns of a mailbox; new ones are empty. */
  open(key: string): MailboxColumns {
    const columns = this.#columns.get(key) ?? new MailboxColumns(this.#maxOctets);
    this.#columns.delete(key);
    this.#columns.set(key, columns);
    return columns;
  }

  /** Drops columns, such as those with many expunged messages. */
  drop(key: string): void {
    this.#columns.delete(key);
  }

  /** Drops the columns that were used longest ago until the others fit. Called after each search. */
  trim(): void {
    let octets = 0;
    for (const columns of this.#columns.values()) octets += columns.octets;
    for (const [key, columns] of this.#columns) {
      if (octets <= this.#maxOctets) return;
      this.#columns.delete(key);
      octets -= columns.octets;
    }
  }
}
