import { z } from 'zod';
import type { MailPolicy } from '../../../mail/policy/mail-policy.ts';
import { mailPolicy, setMailPolicy as change } from '../../../mail/store/mail-policy.ts';
import { publicId } from '../../ids.ts';
import { everyMailbox } from '../about.ts';
import { operation } from '../operation.ts';
import { Id } from '../schemas.ts';

const Shown = z.object({
  organizationId: z.string(),
  dmarc: z
    .enum(['follow', 'junk', 'mark'])
    .describe('what becomes of mail whose author fails the DMARC policy of its domain'),
  keepRejects: z.boolean().describe('refused mail can be looked at in the mailbox Rejects for 7 days'),
});

/** What an organization wants done with mail from outside. */
export const getMailPolicy = operation({
  name: 'get_mail_policy',
  title: 'Get the policy for incoming mail',
  toolset: 'email',
  reach: 'organization',
  action: 'read',
  description:
    'What this organization wants done with mail from outside: whether the DMARC policy of the author is followed, leads to Junk, or is only noted, and whether refused mail can be looked at for 7 days.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: Id('organization').optional() }),
  output: Shown,
  rest: { method: 'GET', path: '/api/email/mail-policy' },
  run: async (call) => shown(call.tenant, await call.store.read(mailPolicy, { tenant: call.tenant })),
});

export const updateMailPolicy = operation({
  name: 'update_mail_policy',
  title: 'Change the policy for incoming mail',
  toolset: 'email',
  reach: 'organization',
  action: 'manage',
  description:
    'Changes what is done with mail from outside; what is left out stays. dmarc: "follow" refuses what the domain of its author asks to refuse, "junk" puts it into Junk, "mark" only says so. Side effect: other mail is refused or let in from now on.',
  hints: { idempotent: true },
  rule: everyMailbox,
  input: z.strictObject({
    organizationId: Id('organization').optional(),
    dmarc: Shown.shape.dmarc.optional(),
    keepRejects: z.boolean().optional(),
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
