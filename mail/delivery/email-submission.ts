import { command } from '../store/engine/types.ts';
import { inState } from '../store/guarded.ts';
import { addEmailSubmission, type NewEmailSubmission, ownSubmission } from '../store/jmap-submission.ts';
import { unschedule } from './schedule.ts';
import { enter, judge, type Stopped, type Submission } from './submit.ts';

/** `id` is that of the remembered submission. */
export type SubmittedEmail = { kind: 'submitted'; id: number; queued: boolean } | Stopped;

/** The gate for what is sent by JMAP: what it takes is remembered in the same commit. RFC 8621 7.5. */
const enterEmail = command(
  'submit-email',
  async (tx, { mail, record }: { mail: Submission; record: NewEmailSubmission }, stamp): Promise<SubmittedEmail> => {
    const judged = await judge(tx, mail, stamp.now);
    if (judged.kind !== 'passed') return judged;
    // First, so that what happens to the message from here on finds it.
    const id = await addEmailSubmission(tx, record);
    const done = await enter(tx, mail, judged, stamp);
    return { kind: 'submitted', id, queued: done.kind === 'taken' && done.queued };
  },
);

/** Takes back what has not left. `late`: it has, or somebody is about to let it. */
const cancel = command(
  'cancel-submission',
  async (
    tx,
    { account, id }: { account: number; id: number },
    stamp,
  ): Promise<{ kind: 'canceled' | 'late' | 'missing' }> => {
    const row = await ownSubmission(tx, account, id);
    if (row === undefined) return { kind: 'missing' };
    if (row.undo === 'canceled') return { kind: 'canceled' };
    return { kind: (await unschedule(tx, row.trace, stamp)) ? 'canceled' : 'late' };
  },
);

/** As a client asks for them that goes by the state that it knows. */
export const submitEmail = inState('EmailSubmission', enterEmail);
export const cancelSubmission = inState('EmailSubmission', cancel);
