import { quotaOf } from '../../../store/quota.ts';
import { QUOTA } from '../../capabilities.ts';
import type { Method } from '../../method.ts';
import { QUOTA_PROPERTIES, quotaObjects } from '../../quota/quota-object.ts';
import { answerGet, pick, readGet } from '../../standard-get.ts';
import { formatState } from '../../state.ts';

/** Quota/get. RFC 9425 4.2. */
export const quotaGet: Method = {
  name: 'Quota/get',
  capability: QUOTA,
  async run(call, args) {
    const asked = readGet(call, args, (name) => QUOTA_PROPERTIES.has(name), {});
    const { use, state } = await call.desk.store.read(quotaOf, { account: asked.access.account });
    const found = quotaObjects(use).map((one) => pick(one, asked.properties));
    return answerGet(asked, formatState(state), found);
  },
};
