import { quotaOf } from '../../../store/quota.ts';
import { QUOTA } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { quotaObjects } from '../../quota/quota-object.ts';
import { answerChanges, cannotCalculate, readChanges } from '../../standard-changes.ts';
import { formatState } from '../../state.ts';

/** Quota/changes. RFC 9425 4.3: what is used changes with each message; whether a limit did too is not known. */
export const quotaChanges: Method = {
  name: 'Quota/changes',
  capability: QUOTA,
  async run(call, args) {
    const asked = readChanges(call, args);
    const { use, state } = await call.desk.store.read(quotaOf, { account: asked.access.account });
    if (asked.since.modseq > state) throw cannotCalculate('is none of this server');
    const updated = asked.since.modseq === state ? [] : quotaObjects(use).map(({ id }) => id);
    // There are two at most: an answer of one would never come to its end.
    if (updated.length > asked.maxChanges) throw cannotCalculate('changed by more than "maxChanges" allows');
    const changed = { newState: formatState(state), hasMoreChanges: false, created: [], updated, destroyed: [] };
    return { ...answerChanges(asked, changed), updatedProperties: null };
  },
};
