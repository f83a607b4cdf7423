import { quotaOf } from '../../../store/quota.ts';
import { QUOTA } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { answerQueryChanges, readQueryChanges } from '../../object-query.ts';
import { QUOTA_SEARCH, quotaObjects } from '../../quota/quota-object.ts';
import { cannotCalculate } from '../../standard-changes.ts';
import { formatState, readState } from '../../state.ts';

/** Quota/queryChanges. RFC 9425 4.5. */
export const quotaQueryChanges: Method = {
  name: 'Quota/queryChanges',
  capability: QUOTA,
  async run(call, args) {
    const asked = readQueryChanges(call, args);
    const since = readState(asked.sinceQueryState);
    const { use, state } = await call.desk.store.read(quotaOf, { account: asked.access.account });
    if (since === undefined || since.modseq > state) throw cannotCalculate('is none of this server');
    const all = quotaObjects(use);
    const changed = since.modseq === state ? [] : all.map(({ id }) => id);
    return answerQueryChanges(asked, QUOTA_SEARCH, all, { changed, newQueryState: formatState(state) });
  },
};
