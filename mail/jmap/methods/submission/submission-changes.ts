import { submissionChanges } from '../../../store/jmap-submission.ts';
import { SUBMISSION } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { changesAfter, tellChanges } from '../../object-changes.ts';
import { readChanges } from '../../standard-changes.ts';

/** EmailSubmission/changes. RFC 8621 7.2. */
export const submissionChangesMethod: Method = {
  name: 'EmailSubmission/changes',
  capability: SUBMISSION,
  async run(call, args) {
    const asked = readChanges(call, args);
    return tellChanges(asked, 'submission', await call.desk.store.read(submissionChanges, changesAfter(asked)));
  },
};
