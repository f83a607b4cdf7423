import type { Budget } from '../store/budget.ts';
import { command } from '../store/engine/types.ts';
import { takeVacationTurn } from '../store/vacation.ts';
import { heldFor } from '../store/paused-sender.ts';
import { enter, judge, type Stopped, type Submission } from './submit.ts';
import { watchedOf } from './watch.ts';

/** `answered`: the sender has had an answer, or the job is done. What the gate stops is not tried again. */
export type VacationAnswered = { kind: 'sent'; queued: boolean } | { kind: 'answered' } | Stopped;

/** Sends one answer through the gate, at most one to a sender in its period, in one commit with its job's end. */
export const sendVacationAnswer = command(
  'send-vacation-answer',
  async (
    tx,
    { mail: asked, ...job }: { id: number; account: number; key: string; mail: Submission },
    stamp,
  ): Promise<VacationAnswered> => {
    const because = await heldFor(tx, watchedOf(asked, asked.budgets)?.sender ?? '');
    if (because !== undefined) return { kind: 'refused', because };
    const mail = { ...asked, budgets: asked.budgets.map(unwatched) };
    // Before the turn is taken: who got no answer gets one the next time.
    const judged = await judge(tx, mail, stamp.now);
    if (judged.kind !== 'passed') return judged;
    if (!(await takeVacationTurn(tx, job, stamp))) return { kind: 'answered' };
    const done = await enter(tx, mail, judged, stamp);
    return { kind: 'sent', queued: done.kind === 'taken' && done.queued };
  },
);

/** A stranger chooses who is answered: addresses that it made up, and that bounce, speak against nobody here. */
function unwatched(budget: Budget): Budget {
  return { ...budget, watched: false };
}
