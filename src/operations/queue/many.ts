import { z } from 'zod';
import { parseDomain } from '../../../mail/message/address.ts';
import type { Steer, Steered } from '../../../mail/store/queue/queue-change.ts';
import { resumeUnfrozenQueue } from '../../sending/held-commands.ts';
import { type Call, operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { Line, DomainName } from '../../core/schemas.ts';
import { allowedAccounts } from '../scope.ts';
import { everyMailbox } from '../affected-mailboxes.ts';
import { routeOf, RouteChoice } from './reroute.ts';

/** Maximum commits per request; `more` reports the rest. */
const MAX_SLICES = 20;

/** Applies the action in slices. `more` is true if rows are left. */
export async function steerMany(
  call: Call,
  steer: Steer,
  detail: Readonly<Record<string, string>>,
): Promise<{ changed: number; more: boolean }> {
  let changed = 0;
  let after: number | undefined = 0;
  for (let slice = 0; slice < MAX_SLICES && after !== undefined; slice++) {
    const done: Steered = await call.change(resumeUnfrozenQueue, { ...steer, after }, 'queue', detail);
    if (done.kind === 'no-route') refuse('not_found', 'No such route in this organization.', { resource: 'route' });
    changed += done.changed;
    after = done.last;
  }
  if (changed > 0) call.queueChanged();
  return { changed, more: after !== undefined };
}

export const steerQueued = operation({
  name: 'steer_queue',
  title: 'Act on many queued messages',
  toolset: 'email',
  reach: 'mailbox',
  action: 'manage',
  description:
    'Retries, holds, releases, cancels or reroutes all queued mail of one message, of one destination, or (with neither) all that this token may see. cancel is permanent and sends no bounce. `more` true: call again for the rest.',
  hints: { destructive: true, openWorld: true },
  // Among them may be mail of people, which nothing brings back.
  rule: (call, { action }) => (action === 'cancel' ? everyMailbox(call) : undefined),
  input: z.strictObject({
    action: z.enum(['retry', 'hold', 'release', 'cancel', 'reroute']).describe('Action'),
    domain: DomainName.describe('Only mail to this domain').optional(),
    messageId: Line(1, 200).describe('Only this message, as list_queue shows it').optional(),
    route: RouteChoice.optional(),
  }),
  output: z.object({ changed: z.number(), more: z.boolean() }),
  rest: { method: 'POST', path: '/api/email/queue' },
  async run(call, { action, domain, messageId, route: way }) {
    if ((action === 'reroute') !== (way !== undefined)) {
      const message = 'is required for reroute, and only for it';
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
