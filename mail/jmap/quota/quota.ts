import { quotaOf, type QuotaUse } from '../../store/account/quota.ts';
import { oneOf, text } from '../core/arguments.ts';
import { QUOTA } from '../core/capabilities.ts';
import type { JmapMethod } from '../core/method.ts';
import {
  answerQuery,
  answerQueryChanges,
  compareCodeUnits,
  readQuery,
  readQueryChanges,
  type SearchSpec,
} from '../standard/object-query.ts';
import { cannotCalculate, changesMethod, formatState, readState } from '../standard/standard-changes.ts';
import { getMethod } from '../standard/standard-get.ts';

/** A Quota object. RFC 9425 4. */
interface QuotaObject extends Record<string, unknown> {
  id: string;
  resourceType: 'octets' | 'count';
  used: number;
  hardLimit: number;
  scope: 'account';
  name: string;
  types: string[];
}

const QUOTA_PROPERTIES: ReadonlySet<string> = new Set([
  'id',
  'resourceType',
  'used',
  'hardLimit',
  'scope',
  'name',
  'types',
  'warnLimit',
  'softLimit',
  'description',
]);

/** The quotas of an account; a missing limit has no Quota object. */
function quotaObjects(use: QuotaUse | undefined): QuotaObject[] {
  if (use === undefined) return [];
  const { usedBytes, quotaBytes, usedCount, quotaCount } = use;
  return [
    ...(quotaBytes === null ? [] : [quota('storage', 'octets', usedBytes, quotaBytes)]),
    ...(quotaCount === null ? [] : [quota('messages', 'count', usedCount, quotaCount)]),
  ];
}

const DESCRIPTIONS = {
  octets: 'Octets of all messages in this mailbox. When the quota is full, new mail is deferred.',
  count: 'Messages in this mailbox. When the quota is full, new mail is deferred.',
};

function quota(id: string, resourceType: QuotaObject['resourceType'], used: number, hardLimit: number): QuotaObject {
  return {
    id,
    resourceType,
    used,
    hardLimit,
    scope: 'account',
    name: id,
    types: ['Email'],
    warnLimit: null,
    softLimit: null,
    description: DESCRIPTIONS[resourceType],
  };
}

/** Filter conditions and sort properties. RFC 9425 4.4. */
const QUOTA_SEARCH: SearchSpec<QuotaObject> = {
  idOf: ({ id }) => id,
  conditions: {
    name(value, path) {
      const part = text(value, path).toLowerCase();
      return ({ name }) => name.includes(part);
    },
    scope(value, path) {
      const expected = oneOf('account', 'domain', 'global')(value, path);
      return ({ scope }) => scope === expected;
    },
    resourceType(value, path) {
      const expected = oneOf('count', 'octets')(value, path);
      return ({ resourceType }) => resourceType === expected;
    },
    type(value, path) {
      const expected = text(value, path);
      return ({ types }) => types.includes(expected);
    },
  },
  orders: {
    name: (a, b) => compareCodeUnits(a.name, b.name),
    used: (a, b) => compareCodeUnits(a.used, b.used),
  },
};

/** Quota/get. RFC 9425 4.2. */
export const quotaGet = getMethod({
  name: 'Quota/get',
  capability: QUOTA,
  properties: QUOTA_PROPERTIES,
  async find({ context }, { access }) {
    const { use, state } = await context.store.read(quotaOf, { account: access.account });
    return { found: quotaObjects(use), state: formatState(state) };
  },
});

/** Quota/changes. RFC 9425 4.3. Usage changes with each message; `updatedProperties` is null because limits may change too. */
export const quotaChanges = changesMethod('Quota/changes', QUOTA, async ({ store }, { access, since, maxChanges }) => {
  const { use, state } = await store.read(quotaOf, { account: access.account });
  if (since.modseq > state) throw cannotCalculate('was not issued by this server');
  const updated = since.modseq === state ? [] : quotaObjects(use).map(({ id }) => id);
  // At most two objects share one state: a truncated response could never continue.
  if (updated.length > maxChanges) throw cannotCalculate('has more changes than "maxChanges" allows');
  const changed = { newState: formatState(state), hasMoreChanges: false, created: [], updated, destroyed: [] };
  return { ...changed, updatedProperties: null };
});

/** Quota/query. RFC 9425 4.4. */
export const quotaQuery: JmapMethod = {
  name: 'Quota/query',
  capability: QUOTA,
  async run(call, args) {
    const request = readQuery(call, args);
    const { use, state } = await call.context.store.read(quotaOf, { account: request.access.account });
    return answerQuery(request, QUOTA_SEARCH, quotaObjects(use), formatState(state));
  },
};

/** Quota/queryChanges. RFC 9425 4.5. */
export const quotaQueryChanges: JmapMethod = {
  name: 'Quota/queryChanges',
  capability: QUOTA,
  async run(call, args) {
    const request = readQueryChanges(call, args);
    const since = readState(request.sinceQueryState);
    const { use, state } = await call.context.store.read(quotaOf, { account: request.access.account });
    if (since === undefined || since.modseq > state) throw cannotCalculate('was not issued by this server');
    const all = quotaObjects(use);
    const changed = since.modseq === state ? [] : all.map(({ id }) => id);
    return answerQueryChanges(request, QUOTA_SEARCH, all, { changed, newQueryState: formatState(state) });
  },
};
