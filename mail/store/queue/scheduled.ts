import type { Stamp, Write } from '../engine/types.ts';
import { recordJournalEvent } from '../journal/journal.ts';
import { dropSubmission } from './queue.ts';
import { deleteContentKey } from './idempotency.ts';

/** A scheduled or held message. */
export interface ScheduledRow extends Record<string, string | number | null> {
  /** Id of its submission. */
  id: number;
  trace: string;
  tenant: number;
  account_id: number | null;
}

export function scheduledOf(tx: Write, trace: string): Promise<ScheduledRow | undefined> {
  return tx.get<ScheduledRow>(
    `SELECT s.id, s.trace, s.tenant, s.account_id FROM submission s JOIN scheduled d ON d.submission_id = s.id
     WHERE s.trace = ?`,
    trace,
  );
}

/** Cancels a scheduled message. `why` is recorded in the journal. */
export async function dropScheduled(
  tx: Write,
  { id, trace, tenant, account_id: account }: ScheduledRow,
  why: { because?: string },
  stamp: Stamp,
): Promise<void> {
  await tx.run('DELETE FROM scheduled WHERE submission_id = ?', id);
  await deleteContentKey(tx, trace);
  await recordJournalEvent(tx, trace, 'cancelled', account, { ...why, outbox: id }, stamp, { tenant });
  await dropSubmission(tx, id);
}
