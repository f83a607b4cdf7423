import { submissionFacts } from '../../../store/jmap-submission.ts';
import { SUBMISSION } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { answerQuery, readQuery } from '../../object-query.ts';
import { formatState } from '../../state.ts';
import { SUBMISSION_SEARCH } from '../../submission/submission-search.ts';

/** EmailSubmission/query. RFC 8621 7.3. */
export const submissionQuery: Method = {
  name: 'EmailSubmission/query',
  capability: SUBMISSION,
  async run(call, args) {
    const asked = readQuery(call, args);
    const { facts, state } = await call.desk.store.scan(submissionFacts, { account: asked.access.account });
    return answerQuery(asked, SUBMISSION_SEARCH, facts, formatState(state));
  },
};
