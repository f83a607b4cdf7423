import { quotaOf } from '../../../store/quota.ts';
import { QUOTA } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { answerQuery, readQuery } from '../../object-query.ts';
import { QUOTA_SEARCH, quotaObjects } from '../../quota/quota-object.ts';
import { formatState } from '../../state.ts';

/** Quota/query. RFC 9425 4.4. */
export const quotaQuery: Method = {
  name: 'Quota/query',
  capability: QUOTA,
  async run(call, args) {
    const asked = readQuery(call, args);
    const { use, state } = await call.desk.store.read(quotaOf, { account: asked.access.account });
    return answerQuery(asked, QUOTA_SEARCH, quotaObjects(use), formatState(state));
  },
};
