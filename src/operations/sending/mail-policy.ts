import { z } from 'zod';
import type { MailPolicy } from '../../../mail/policy/mail-policy.ts';
import { mailPolicy, setMailPolicy as change } from '../../../mail/store/filter/mail-policy.ts';
import { publicId } from '../../core/ids.ts';
import { everyMailbox } from '../affected-mailboxes.ts';
import { operation } from '../../core/operation.ts';
import { OwnOrganization } from '../../core/schemas.ts';
import { setForwardPolicy } from '../../sending/confirmation-commands.ts';
import { notFound } from '../../core/refusal.ts';

const Shown = z.object({
  organizationId: z.string(),
  dmarc: z
    .enum(['follow', 'junk', 'mark'])
    .describe("Mail that fails DMARC: follow the author's policy, put into Junk, or only mark"),
  keepRejects: z.boolean().describe('Keep rejected mail in Rejects for 7 days'),
});

/** Settings for incoming mail of an organization. */
export const getMailPolicy = operation({
  name: 'get_mail_policy',
  title: 'Get the policy for incoming mail',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  description:
    'Returns how this organization handles mail that fails DMARC, and whether rejected mail is kept for 7 days.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: OwnOrganization }),
  output: Shown,
  rest: { method: 'GET', path: '/api/email/mail-policy' },
  run: async (call) => shown(call.tenant, await call.store.read(mailPolicy, { tenant: call.tenant })),
});

export const updateMailPolicy = operation({
  name: 'update_mail_policy',
  title: 'Update the policy for incoming mail',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'Changes how incoming mail is handled; omitted fields stay. Side effect: from now on other mail is rejected or accepted.',
  hints: { idempotent: true },
  rule: everyMailbox,
  input: z.strictObject({
    organizationId: OwnOrganization,
    dmarc: Shown.shape.dmarc.optional(),
    keepRejects: Shown.shape.keepRejects.optional(),
  }),
  output: Shown,
  rest: { method: 'PUT', path: '/api/email/mail-policy' },
  async run(call, { dmarc, keepRejects }) {
    const policy = {
      ...(dmarc !== undefined && { dmarc }),
      ...(keepRejects !== undefined && { rejects: keepRejects }),
    };
    const id = publicId('organization', call.tenant);
    return shown(call.tenant, await call.change(change, { tenant: call.tenant, policy }, id, policy));
  },
});

function shown(tenant: number, { dmarc, rejects }: MailPolicy): z.output<typeof Shown> {
  return { organizationId: publicId('organization', tenant), dmarc, keepRejects: rejects };
}

export const setForwardingPolicy = operation({
  name: 'set_forwarding_policy',
  title: 'Set the forwarding policy',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'With confirmExternal, new forwards to outside domains stay inactive until the destination opens a mailed link. Active forwards stay active. Default: off.',
  hints: { idempotent: true },
  rule: everyMailbox,
  input: z.strictObject({
    organizationId: OwnOrganization,
    confirmExternal: z.boolean().describe('Ask outside destinations first'),
  }),
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
