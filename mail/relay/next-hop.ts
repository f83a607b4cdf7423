import type { OutboundRoute, RouteUse } from '../store/queue/outbound-route.ts';
import type { NextHop } from './relay-queue.ts';

/** Route id of the box's own smarthost. */
export const BOX_SMARTHOST = -1;
/** Route id of direct delivery. */
export const DIRECT_ROUTE = 0;

/** Properties of a row that decide its next hop. */
export interface NextHopInput {
  tenant: number;
  /** Domain of the envelope sender, '' for the null reverse-path. */
  sender: string;
  /** Destination. */
  domain: string;
  /** Route that was set for this row alone; null: by the routes. */
  route: number | null;
}

/**
 * Chooses the next hop of a row: the route set for it, else the most specific one: by recipient domain, by sender domain, of
 * the tenant, of the box. `box`: use of the box's smarthost; undefined: none.
 */
export function chooseNextHop(
  row: NextHopInput,
  routes: readonly Pick<OutboundRoute, 'id' | 'tenant' | 'receiver' | 'sender' | 'use'>[],
  box: 'always' | 'failover' | undefined,
): NextHop {
  const own = routes.filter((route) => route.tenant === row.tenant);
  if (row.route === DIRECT_ROUTE) return toNextHop('never', DIRECT_ROUTE);
  if (row.route === BOX_SMARTHOST && box !== undefined) return toNextHop('always', BOX_SMARTHOST);
  const chosen = own.find((route) => route.id === row.route && route.use !== 'never');
  if (chosen !== undefined) return toNextHop('always', chosen.id);
  const found =
    own.find((route) => route.receiver === row.domain) ??
    own.find((route) => route.sender !== '' && route.sender === row.sender) ??
    own.find((route) => route.receiver === '' && route.sender === '');
  if (found !== undefined) return toNextHop(found.use, found.id);
  return box === undefined ? toNextHop('never', DIRECT_ROUTE) : toNextHop(box, BOX_SMARTHOST);
}

function toNextHop(use: RouteUse, id: number): NextHop {
  return { via: use === 'always' ? id : undefined, failover: use === 'failover' ? id : undefined };
}
