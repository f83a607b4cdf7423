import type { Submission } from './submission.ts';
import { command, type Write } from '../store/engine/types.ts';
import { conditionalCommand } from '../store/account/state-guard.ts';
import { addEmailSubmission, type NewEmailSubmission, ownSubmission } from '../store/submission/jmap-submission.ts';
import { unschedule } from './scheduled-messages.ts';
import { commitSubmission, type SubmissionRejection } from './submit.ts';

/** `id`: the EmailSubmission. */
export type SubmittedEmail = { kind: 'submitted'; id: number; queued: boolean } | SubmissionRejection;

/** Submits a message by JMAP and stores its EmailSubmission in the same commit. RFC 8621 7.5. */
const submitEmailCommand = command(
  'submit-email',
  (tx, { mail, record }: { mail: Submission; record: NewEmailSubmission }, stamp): Promise<SubmittedEmail> =>
    commitSubmission(tx, mail, stamp, async (accept) => {
      // First, so that later events of the message find it.
      const id = await addEmailSubmission(tx, record);
      const done = await accept();
      return { kind: 'submitted', id, queued: done.kind === 'taken' && done.queued };
    }),
);

/** Cancels a submission. `late`: already sent, or about to be. `theirs`: an agent requests it for mail of a person. */
const cancelCommand = command(
  'cancel-submission',
  async (
    tx,
    { account, id, byAgent }: { account: number; id: number; byAgent: boolean },
    stamp,
  ): Promise<{ kind: 'canceled' | 'late' | 'missing' | 'theirs' }> => {
    const row = await ownSubmission(tx, account, id);
    if (row === undefined) return { kind: 'missing' };
    if (row.undo === 'canceled') return { kind: 'canceled' };
    if (byAgent && (await isOfPerson(tx, row.trace))) return { kind: 'theirs' };
    return { kind: (await unschedule(tx, row.trace, stamp)) ? 'canceled' : 'late' };
  },
);

async function isOfPerson(tx: Write, trace: string): Promise<boolean> {
  const row = await tx.get(
    `SELECT 1 AS yes FROM scheduled d JOIN submission s ON s.id = d.submission_id
     WHERE s.trace = ? AND d.created_by IS NULL`,
    trace,
  );
  return row !== undefined;
}

/** With the ifInState check of JMAP. */
export const submitEmail = conditionalCommand('EmailSubmission', submitEmailCommand);
export const cancelSubmission = conditionalCommand('EmailSubmission', cancelCommand);
