import { VacationResponder } from '../../mail/jobs/vacation-responder.ts';
import type { AppContext } from '../core/app-context.ts';
import { submissionContext } from '../sending/submission-context.ts';

/** Creates the job that sends vacation replies. */
export function openVacation(context: AppContext): VacationResponder {
  return new VacationResponder({ ...submissionContext(context), log: context.log });
}
