import { z } from 'zod';
import { dmarcText } from '../../domains/records.ts';
import { DMARC_POLICIES } from '../../reports/advice.ts';
import { setDmarcPolicy } from '../../reports/policy-commands.ts';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { findOwnDomain } from '../scope.ts';
import { DomainArguments } from './arguments.ts';

export const setDmarcPolicyOf = operation({
  name: 'set_dmarc_policy',
  title: 'Set the DMARC policy of a domain',
  toolset: 'dns',
  reach: 'project',
  action: 'manage',
  description:
    'Sets the DMARC policy in the records of a domain and returns the TXT record to publish; this server publishes it for domains whose DNS it leads. get_dmarc_report advises. With reject, mail of yours that fails is refused by others.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ ...DomainArguments, policy: z.enum(DMARC_POLICIES).describe('Begin with none') }),
  output: z.object({
    policy: z.enum(DMARC_POLICIES),
    record: z.object({ type: z.literal('TXT'), name: z.string(), value: z.string() }),
  }),
  async run(call, { policy, ...which }) {
    const { id, name } = await findOwnDomain(call, which);
    await call.change(setDmarcPolicy, { domain: id, policy }, publicId('domain', id), { policy });
    return { policy, record: { type: 'TXT' as const, name: `_dmarc.${name}`, value: dmarcText(name, policy) } };
  },
});
