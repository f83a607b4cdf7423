import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { setForwardPolicy } from '../../sending/confirmation-commands.ts';
import { everyMailbox } from '../about.ts';
import { operation } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id } from '../schemas.ts';

export const setForwardingPolicy = operation({
  name: 'set_forwarding_policy',
  title: 'Set the policy for forwards',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'With confirmExternal, new forwards to domains that are not of this organization pass nothing on until the destination has opened a link that is mailed to it. Forwards that are active stay so. Off unless it is set.',
  hints: { idempotent: true },
  rule: everyMailbox,
  input: z.strictObject({ organizationId: Id('organization').optional(), confirmExternal: z.boolean() }),
  output: z.object({ organizationId: z.string(), confirmExternal: z.boolean() }),
  rest: { method: 'PUT', path: '/api/email/forwarding-policy' },
  async run(call, { confirmExternal: confirm }) {
    const organizationId = publicId('organization', call.tenant);
    const input = { organization: call.tenant, confirm };
    const done = await call.change(setForwardPolicy, input, organizationId, { confirmExternal: confirm });
    if (done.kind === 'missing') return notFound('organization');
    return { organizationId, confirmExternal: confirm };
  },
});
