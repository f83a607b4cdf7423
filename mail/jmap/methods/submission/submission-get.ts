import { submissionsOf } from '../../../store/jmap-submission.ts';
import { SUBMISSION } from '../../capabilities.ts';
import { jmapRow } from '../../ids.ts';
import type { Method } from '../../method.ts';
import { answerGet, pick, readGet, tooMany } from '../../standard-get.ts';
import { formatState } from '../../state.ts';
import { SUBMISSION_PROPERTIES, submissionObject } from '../../submission/submission-object.ts';

/** EmailSubmission/get. RFC 8621 7.1. */
export const submissionGet: Method = {
  name: 'EmailSubmission/get',
  capability: SUBMISSION,
  async run(call, args) {
    const asked = readGet(call, args, (name) => SUBMISSION_PROPERTIES.has(name), {});
    const { account } = asked.access;
    const ids = asked.ids && asked.ids.flatMap((id) => jmapRow('submission', account, id) ?? []);
    const most = call.desk.limits.maxObjectsInGet;
    const { submissions, state } = await call.desk.store.scan(submissionsOf, { account, ids, limit: most + 1 });
    if (submissions.length > most) throw tooMany(call);
    const found = submissions.map((one) => pick(submissionObject(one), asked.properties));
    return answerGet(asked, formatState(state), found);
  },
};
