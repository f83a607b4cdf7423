import type { Budget } from '../store/limit/budget.ts';
import { command } from '../store/engine/types.ts';
import { takeVacationTurn } from '../store/submission/vacation.ts';
import { pauseHoldReason } from '../store/limit/paused-sender.ts';
import { commitSubmission, type SubmissionRejection } from './submission-commit.ts';
import { findWatchedSender } from './anomaly-watch.ts';
import type { Submission } from './submission.ts';

/** `answered`: the sender already got an answer, or the job is done. Answers that the gate stops are not retried. */
export type VacationAnswerResult = { kind: 'sent'; queued: boolean } | { kind: 'answered' } | SubmissionRejection;

/** Sends one vacation answer through the gate, at most one per sender and period, in one commit with the end of its job. */
export const sendVacationAnswer = command(
  'send-vacation-reply',
  async (
    tx,
    { mail: original, ...job }: { id: number; account: number; key: string; mail: Submission },
    stamp,
  ): Promise<VacationAnswerResult> => {
    const because = await pauseHoldReason(tx, findWatchedSender(original, original.budgets)?.sender ?? '');
    if (because !== undefined) return { kind: 'refused', because };
    const mail = { ...original, budgets: original.budgets.map(withoutWatch) };
    return commitSubmission(tx, mail, stamp, async (accept) => {
      // Recorded only after all checks: a sender that got no answer gets one the next time.
      if (!(await takeVacationTurn(tx, job, stamp))) return { kind: 'answered' as const };
      const done = await accept();
      return { kind: 'sent' as const, queued: done.kind === 'taken' && done.queued };
    });
  },
);

/** Excludes vacation answers from anomaly detection: outsiders choose their recipients, so bounces say nothing about the account. */
function withoutWatch(budget: Budget): Budget {
  return { ...budget, watched: false };
}
