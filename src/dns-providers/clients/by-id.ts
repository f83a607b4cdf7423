import type { NewEntry, RecordSetChange } from '../zone-entry.ts';

/** Requests of a provider whose records have ids, and that changes one record at a time. */
interface RecordRequests {
  create(entry: NewEntry): Promise<void>;
  /** Puts another value into a record. */
  update(id: string, entry: NewEntry): Promise<void>;
  remove(id: string): Promise<void>;
}

/**
 * Makes a change record by record. A record that is replaced is updated in place: with a deletion first, a failure in between
 * would leave the domain without its SPF record, with a creation first it would have two, which is as bad.
 */
export async function changeById({ remove, add }: RecordSetChange, requests: RecordRequests): Promise<void> {
  for (const [i, entry] of add.entries()) {
    const old = remove[i];
    if (old === undefined) await requests.create(entry);
    else await requests.update(old.id, entry);
  }
  for (const { id } of remove.slice(add.length)) await requests.remove(id);
}
