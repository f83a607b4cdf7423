import type { Stamp, Write } from './engine/types.ts';
import { note } from './journal.ts';
import { dropSubmission } from './queue.ts';
import { forgetGuess } from './sent-before.ts';

/** A message that waits as a whole. */
export interface ScheduledRow extends Record<string, string | number | null> {
  /** Of its submission. */
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

/** Takes a message back that has not left; nobody gets it. `why` goes into its story. */
export async function dropScheduled(
  tx: Write,
  { id, trace, tenant, account_id: account }: ScheduledRow,
  why: { because?: string },
  stamp: Stamp,
): Promise<void> {
  await tx.run('DELETE FROM scheduled WHERE submission_id = ?', id);
  await forgetGuess(tx, trace);
  await note(tx, trace, 'cancelled', account, { ...why, outbox: id }, stamp, { tenant });
  await dropSubmission(tx, id);
}
