import { z } from 'zod';
import { BOX_SMARTHOST, DIRECT_ROUTE } from '../../../mail/relay/next-hop.ts';
import { type Steer, changeQueue } from '../../../mail/store/queue/queue-change.ts';
import { idPattern, rowId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id } from '../../core/schemas.ts';
import { allowedAccounts, outOfScope } from '../scope.ts';

/** Routes that a queued message can be given. */
export const RouteChoice = z
  .union([z.enum(['automatic', 'direct', 'smarthost']), z.string().regex(idPattern('route'))])
  .describe("automatic: by the routes; smarthost: this server's; or a route id");

/** Converts a route for the store. Refuses the server's smarthost if there is none, and routes to limited tokens. */
export function routeOf(way: z.output<typeof RouteChoice>, { settings, caller }: Call): NonNullable<Steer['route']> {
  switch (way) {
    case 'automatic':
      return { id: null, name: 'by the routes' };
    case 'direct':
      return { id: DIRECT_ROUTE, name: 'direct' };
    case 'smarthost':
      if (settings.smarthost === undefined) {
        return refuse('conflict', 'This server has no smarthost: the operator sets one with MAILSTEAD_SMARTHOST.');
      }
      return { id: BOX_SMARTHOST, name: 'the smarthost of this server' };
    default:
      // Routes and their logins belong to the whole organization.
      if (caller.project !== null || caller.service !== null || caller.mailboxes !== null) outOfScope(caller);
      return { id: rowId('route', way) ?? notFound('route'), name: way };
  }
}

export const setQueueRoute = operation({
  name: 'set_queue_route',
  title: 'Reroute a queued message',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    "Sends one queued message by another route: directly, by a route of list_outbound_routes, or by this server's smarthost. Attempted at once unless held.",
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({ queueId: Id('queue'), route: RouteChoice }),
  output: z.object({ queueId: z.string(), changed: z.literal(true) }),
  rest: { method: 'POST', path: '/api/email/queue/:queueId/route' },
  async run(call, { queueId, route: way }) {
    const id = rowId('queue', queueId) ?? notFound('queue item');
    const route = routeOf(way, call);
    const accounts = await allowedAccounts(call);
    const steer = { ids: [id], what: 'reroute', tenant: call.tenant, accounts, route } as const;
    const { kind } = await call.change(changeQueue, steer, queueId, { route: way });
    if (kind === 'no-route') return notFound('route');
    if (kind === 'none') return notFound('queue item');
    call.queueChanged();
    return { queueId, changed: true as const };
  },
});
