import { expect, test } from 'vitest';
import { BOX_SMARTHOST, chooseNextHop, DIRECT_ROUTE } from '../../../mail/relay/next-hop.ts';
import type { RouteUse } from '../../../mail/store/queue/outbound-route.ts';

const route = (id: number, use: RouteUse, receiver: string, sender: string, tenant = 1) => {
  return { id, tenant, receiver, sender, use };
};
const ROUTES = [
  route(1, 'always', '', ''),
  route(2, 'failover', '', 'own.test'),
  route(3, 'never', 'big.test', ''),
  route(4, 'always', '', '', 2),
];
const row = { tenant: 1, sender: 'other.test', domain: 'small.test', route: null };
const direct = { via: undefined, failover: undefined };

test.each([
  ['the organization', {}, { via: 1, failover: undefined }],
  ['the sender before it', { sender: 'own.test' }, { via: undefined, failover: 2 }],
  ['the receiver before both', { sender: 'own.test', domain: 'big.test' }, direct],
  ['another organization', { tenant: 2 }, { via: 4, failover: undefined }],
  ['the box where there is nothing', { tenant: 3 }, { via: BOX_SMARTHOST, failover: undefined }],
  ['the box for its own', { tenant: 0, sender: '' }, { via: BOX_SMARTHOST, failover: undefined }],
  ['what was chosen', { route: 2 }, { via: 2, failover: undefined }],
  ['directly, chosen', { route: DIRECT_ROUTE }, direct],
  ['by the box, chosen', { route: BOX_SMARTHOST }, { via: BOX_SMARTHOST, failover: undefined }],
  ['a chosen route that is gone', { route: 99 }, { via: 1, failover: undefined }],
  ["a chosen route that is another's", { route: 4 }, { via: 1, failover: undefined }],
])('%s', (_name, change, way) => {
  expect(chooseNextHop({ ...row, ...change }, ROUTES, 'always')).toEqual(way);
});

test('without a smarthost of the box all is direct, and with one that stands by it is that', () => {
  expect(chooseNextHop({ ...row, tenant: 3 }, ROUTES, undefined)).toEqual(direct);
  expect(chooseNextHop({ ...row, tenant: 3 }, ROUTES, 'failover')).toEqual({ via: undefined, failover: BOX_SMARTHOST });
  expect(chooseNextHop({ ...row, tenant: 3, route: BOX_SMARTHOST }, ROUTES, undefined)).toEqual(direct);
});
