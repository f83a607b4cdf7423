import type { OutboundRoute, RouteUse } from '../store/outbound-route.ts';
import type { Way } from './needs.ts';

/** The box's smarthost, where there is one, among the numbers of routes. */
export const BOX_SMARTHOST = -1;
/** A row that was told to leave directly. */
export const DIRECT = 0;

/** What decides on the way of a row. */
export interface Leaving {
  tenant: number;
  /** Domain of the envelope sender, '' for the null reverse-path. */
  sender: string;
  /** Destination. */
  domain: string;
  /** What was chosen for this row alone; null: as the routes say. */
  route: number | null;
}

/**
 * The way of a row: what was chosen for it, else the most specific route: of the domain that is written to, of the
 * sender's domain, of the tenant, of the box. `box` says when the box's smarthost is used, undefined that there is none.
 */
export function chooseWay(
  row: Leaving,
  routes: readonly Pick<OutboundRoute, 'id' | 'tenant' | 'receiver' | 'sender' | 'use'>[],
  box: 'always' | 'failover' | undefined,
): Way {
  const own = routes.filter((route) => route.tenant === row.tenant);
  if (row.route === DIRECT) return way('never', DIRECT);
  if (row.route === BOX_SMARTHOST && box !== undefined) return way('always', BOX_SMARTHOST);
  const chosen = own.find((route) => route.id === row.route && route.use !== 'never');
  if (chosen !== undefined) return way('always', chosen.id);
  const found =
    own.find((route) => route.receiver === row.domain) ??
    own.find((route) => route.sender !== '' && route.sender === row.sender) ??
    own.find((route) => route.receiver === '' && route.sender === '');
  if (found !== undefined) return way(found.use, found.id);
  return box === undefined ? way('never', DIRECT) : way(box, BOX_SMARTHOST);
}

function way(use: RouteUse, id: number): Way {
  return { via: use === 'always' ? id : undefined, failover: use === 'failover' ? id : undefined };
}
