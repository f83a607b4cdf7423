import { submissionChanges, submissionFacts } from '../../../store/jmap-submission.ts';
import { SUBMISSION } from '../../capabilities.ts';
import { MethodError } from '../../errors.ts';
import { jmapId } from '../../ids.ts';
import { MOST_IN_QUERY } from '../../limits.ts';
import type { Method } from '../../method.ts';
import { checkState } from '../../object-changes.ts';
import { answerQueryChanges, readQueryChanges } from '../../object-query.ts';
import { cannotCalculate } from '../../standard-changes.ts';
import { formatState, readState } from '../../state.ts';
import { SUBMISSION_SEARCH } from '../../submission/submission-search.ts';

/** EmailSubmission/queryChanges. RFC 8621 7.4. */
export const submissionQueryChanges: Method = {
  name: 'EmailSubmission/queryChanges',
  capability: SUBMISSION,
  async run({ desk, ...call }, args) {
    const asked = readQueryChanges({ desk, ...call }, args);
    const since = readState(asked.sinceQueryState);
    if (since === undefined) throw cannotCalculate('is none of this server');
    const { account } = asked.access;
    // The changes first: what changes between the two reads is then told again, and never left out.
    const after = { account, modseq: since.modseq, row: since.row, limit: MOST_IN_QUERY + 1 };
    const found = await desk.store.read(submissionChanges, after);
    checkState(since.modseq, found);
    if (found.changes.length > MOST_IN_QUERY) {
      throw new MethodError('tooManyChanges', `There are more than ${MOST_IN_QUERY} changes: query again.`);
    }
    const { facts } = await desk.store.scan(submissionFacts, { account });
    const changed = found.changes.map((one) => jmapId('submission', one.id));
    const newQueryState = formatState(Math.max(found.state, since.modseq));
    return answerQueryChanges(asked, SUBMISSION_SEARCH, facts, { changed, newQueryState });
  },
};
