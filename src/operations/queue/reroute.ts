import { z } from 'zod';
import { BOX_SMARTHOST, DIRECT } from '../../../mail/relay/ways.ts';
import { type Steer, steerQueue } from '../../../mail/store/queue-steering.ts';
import { idPattern, rowId } from '../../ids.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { allowedAccounts, outOfScope } from '../scope.ts';

/** The ways that a queued mail can be told to take. */
export const Way = z
  .union([z.enum(['automatic', 'direct', 'smarthost']), z.string().regex(idPattern('route'))])
  .describe('automatic: as the routes say; smarthost: that of this server; or the id of a route');

/** A way as the store knows it. Refuses the box's smarthost where there is none, and routes to limited tokens. */
export function routeOf(way: z.output<typeof Way>, { settings, caller }: Call): NonNullable<Steer['route']> {
  switch (way) {
    case 'automatic':
      return { id: null, name: 'as the routes say' };
    case 'direct':
      return { id: DIRECT, name: 'direct' };
    case 'smarthost':
      if (settings.smarthost === undefined) {
        return refuse('conflict', 'This server has no smarthost: the operator sets one with MAILSTEAD_SMARTHOST.');
      }
      return { id: BOX_SMARTHOST, name: 'the smarthost of this server' };
    default:
      // Routes, and the logins behind them, are the whole organization's.
      if (caller.project !== null || caller.service !== null || caller.mailboxes !== null) outOfScope(caller);
      return { id: rowId('route', way) ?? notFound('route'), name: way };
  }
}

export const setQueueRoute = operation({
  name: 'set_queue_route',
  title: 'Send a queued mail another way',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Sends one queued mail by another way: directly, by a route of list_outbound_routes, or by the smarthost of this server. It is tried at once unless it is held.',
  hints: { idempotent: true, openWorld: true },
  input: z.strictObject({ queueId: Id('queue'), route: Way }),
  output: z.object({ queueId: z.string(), changed: z.literal(true) }),
  rest: { method: 'POST', path: '/api/email/queue/:queueId/route' },
  async run(call, { queueId, route: way }) {
    const id = rowId('queue', queueId) ?? notFound('queue item');
    const route = routeOf(way, call);
    const accounts = await allowedAccounts(call);
    const steer = { ids: [id], what: 'reroute', tenant: call.tenant, accounts, route } as const;
    const { kind } = await call.change(steerQueue, steer, queueId, { route: way });
    if (kind === 'no-route') return notFound('route');
    if (kind === 'none') return notFound('queue item');
    call.queueChanged();
    return { queueId, changed: true as const };
  },
});
