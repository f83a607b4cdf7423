import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import type { Steer, Steered } from '../../../mail/store/queue-steering.ts';
import { steerUnfrozen } from '../../sending/held-commands.ts';
import { type Call, operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { Line } from '../schemas.ts';
import { allowedAccounts } from '../scope.ts';
import { routeOf, Way } from './reroute.ts';

/** Commits of one request: what is left is said, and asked for again. */
const MOST_SLICES = 20;

/** Steers slice after slice. `more` says that there was no end to it yet. */
export async function steerMany(
  call: Call,
  steer: Steer,
  detail: Readonly<Record<string, string>>,
): Promise<{ changed: number; more: boolean }> {
  let changed = 0;
  let after: number | undefined = 0;
  for (let slice = 0; slice < MOST_SLICES && after !== undefined; slice++) {
    const done: Steered = await call.change(steerUnfrozen, { ...steer, after }, 'queue', detail);
    if (done.kind === 'no-route') refuse('not_found', 'There is no such route here.', { resource: 'route' });
    changed += done.changed;
    after = done.last;
  }
  if (changed > 0) call.queueChanged();
  return { changed, more: after !== undefined };
}

export const steerQueued = operation({
  name: 'steer_queue',
  title: 'Do something to much queued mail',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Tries now, holds, releases, cancels or reroutes all queued mail of one message, of one destination, or (with neither) all that this token may see. cancel is for good and makes no bounce. `more` true: ask again for the rest.',
  hints: { destructive: true, openWorld: true },
  input: z.strictObject({
    action: z.enum(['retry', 'hold', 'release', 'cancel', 'reroute']),
    domain: Line(1, 253).optional().describe('only mail for this destination'),
    messageId: Line(1, 200).optional().describe('only the message with this id, as list_queue shows it'),
    route: Way.optional(),
  }),
  output: z.object({ changed: z.number(), more: z.boolean() }),
  rest: { method: 'POST', path: '/api/email/queue' },
  async run(call, { action, domain, messageId, route: way }) {
    if ((action === 'reroute') !== (way !== undefined)) {
      const message = 'is for the action reroute, which needs it';
      refuse('invalid_arguments', `route ${message}.`, { issues: [{ path: 'route', message }] });
    }
    const steer: Steer = {
      ids: 'all',
      what: action,
      tenant: call.tenant,
      accounts: await allowedAccounts(call),
      byToken: call.caller.kind === 'token',
      ...(domain !== undefined && { domain: parseDomain(domain) ?? domain }),
      ...(messageId !== undefined && { trace: messageId }),
      ...(way !== undefined && { route: routeOf(way, call) }),
    };
    const detail = { action, ...(domain !== undefined && { domain }), ...(messageId !== undefined && { messageId }) };
    return steerMany(call, steer, detail);
  },
});
