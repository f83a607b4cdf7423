import type { QuotaUse } from '../../store/quota.ts';
import { oneOf, text } from '../arguments.ts';
import { compare, type Searching } from '../object-query.ts';

/** RFC 9425 4. */
export interface QuotaObject extends Record<string, unknown> {
  id: string;
  resourceType: 'octets' | 'count';
  used: number;
  hardLimit: number;
  scope: 'account';
  name: string;
  types: string[];
}

export const QUOTA_PROPERTIES: ReadonlySet<string> = new Set([
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

/** The limits that an account has; without a limit there is no quota. */
export function quotaObjects(use: QuotaUse | undefined): QuotaObject[] {
  if (use === undefined) return [];
  const { usedBytes, quotaBytes, usedCount, quotaCount } = use;
  return [
    ...(quotaBytes === null ? [] : [quota('storage', 'octets', usedBytes, quotaBytes)]),
    ...(quotaCount === null ? [] : [quota('messages', 'count', usedCount, quotaCount)]),
  ];
}

const DESCRIPTIONS = {
  octets: 'Octets of all messages in this mailbox. When they are used up, new mail is told to come later.',
  count: 'Messages in this mailbox. When they are used up, new mail is told to come later.',
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

/** Filters and orders of RFC 9425 4.4. */
export const QUOTA_SEARCH: Searching<QuotaObject> = {
  idOf: ({ id }) => id,
  conditions: {
    name(value, path) {
      const part = text(value, path).toLowerCase();
      return ({ name }) => name.includes(part);
    },
    scope(value, path) {
      const asked = oneOf('account', 'domain', 'global')(value, path);
      return ({ scope }) => scope === asked;
    },
    resourceType(value, path) {
      const asked = oneOf('count', 'octets')(value, path);
      return ({ resourceType }) => resourceType === asked;
    },
    type(value, path) {
      const asked = text(value, path);
      return ({ types }) => types.includes(asked);
    },
  },
  orders: {
    name: (a, b) => compare(a.name, b.name),
    used: (a, b) => compare(a.used, b.used),
  },
};
