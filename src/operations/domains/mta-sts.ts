import { z } from 'zod';
import { setStsMode, STS_MODES } from '../../domains/sts-commands.ts';
import { enforcementObstacle } from '../../domains/sts-walk.ts';
import { setStsWalk } from '../../reports/policy-commands.ts';
import { stsPolicyText, stsRecordText } from '../../domains/sts-policy.ts';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { findOwnDomain } from '../scope.ts';
import { DomainArguments } from './arguments.ts';

export const setMtaSts = operation({
  name: 'set_mta_sts',
  title: 'Set the MTA-STS policy of a domain',
  toolset: 'dns',
  reach: 'project',
  action: 'manage',
  description:
    'Sets the MTA-STS mode of a domain and returns the TXT record to publish. With enforce, senders defer mail that they cannot deliver over verified TLS.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({
    ...DomainArguments,
    mode: z.enum(STS_MODES).describe('Begin with testing'),
    automatic: z.boolean().describe('Enforce after 14 days of clean reports; at first true').optional(),
  }),
  output: z.object({
    mode: z.enum(STS_MODES),
    record: z.object({ type: z.literal('TXT'), name: z.string(), value: z.string() }),
    policy: z.string(),
    url: z.string(),
  }),
  async run(call, { mode, automatic, ...which }) {
    const { id, name, verified } = await findOwnDomain(call, which);
    if (!verified) refuse('domain_not_verified', `${name} is not verified: verify it first with verify_email_domain.`);
    const selfSigned = (): boolean => call.certificate().selfSigned;
    const obstacle = mode === 'enforce' ? await enforcementObstacle({ ...call, selfSigned }, name) : undefined;
    if (obstacle !== undefined) refuse('conflict', obstacle);
    if (automatic !== undefined) {
      await call.change(setStsWalk, { domain: id, on: automatic }, publicId('domain', id), { automatic });
    }
    const { changedAt } = await call.change(setStsMode, { domain: id, mode }, publicId('domain', id), { mode });
    const policy = { mode, changedAt };
    return {
      mode,
      record: { type: 'TXT' as const, name: `_mta-sts.${name}`, value: stsRecordText(policy) },
      policy: stsPolicyText(policy, call.settings.hostname),
      url: `https://mta-sts.${name}/.well-known/mta-sts.txt`,
    };
  },
});
