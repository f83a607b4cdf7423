import type { Submission } from './submission.ts';
import { type Actor, agentName } from '../store/actor.ts';
import { command, type Write } from '../store/engine/types.ts';
import { conditionalCommand } from '../store/account/state-guard.ts';
import { addEmailSubmission, type NewEmailSubmission, ownSubmission } from '../store/submission/jmap-submission.ts';
import { unschedule } from './scheduled-messages.ts';
import { commitSubmission, type SubmissionRejection } from './submission-commit.ts';

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
    {
      account,
      id,
      agent,
      actor,
    }: { account: number; id: number; agent?: string | undefined; actor?: Actor | undefined },
    stamp,
  ): Promise<{ kind: 'canceled' | 'late' | 'missing' | 'theirs' }> => {
    const row = await ownSubmission(tx, account, id);
    if (row === undefined) return { kind: 'missing' };
    if (row.undo === 'canceled') return { kind: 'canceled' };
    const by = agent ?? (await agentName(tx, account, actor));
    if (by !== null && !(await isOfAgent(tx, row.trace))) return { kind: 'theirs' };
    return { kind: (await unschedule(tx, row.trace, stamp)) ? 'canceled' : 'late' };
  },
);

async function isOfAgent(tx: Write, trace: string): Promise<boolean> {
  return (await tx.get('SELECT 1 AS yes FROM agent_send WHERE trace = ?', trace)) !== undefined;
}

/** With the ifInState check of JMAP. */
export const submitEmail = conditionalCommand('EmailSubmission', submitEmailCommand);
export const cancelSubmission = conditionalCommand('EmailSubmission', cancelCommand);
