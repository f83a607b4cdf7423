import { z } from 'zod';
import { domainsOf } from '../../../mail/store/domain.ts';
import { gateOf } from '../../recovery/gate-queries.ts';
import { type Call, operation } from '../operation.ts';
import { Id } from '../schemas.ts';

const Requirement = z.object({
  id: z.enum(['recovery', 'billing', 'domain_verified']),
  status: z.enum(['satisfied', 'missing', 'not_required']),
  satisfiedBy: z.enum(['claim_email', 'recovery_key']).nullable(),
  howTo: z.string(),
  advisory: z.boolean(),
});

export const getDeployGateStatus = operation({
  name: 'get_deploy_gate_status',
  title: 'May this organization deploy',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'read',
  description: 'Says whether this organization may deploy, what is missing, and how to get it. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: Id('organization').optional() }),
  output: z.object({ open: z.boolean(), requirements: z.array(Requirement), blockers: z.array(z.string()) }),
  run: (call) => gateStatus(call),
});

/** `open` depends on recovery alone: this box asks for no payment, it only says where one can be set up. */
export async function gateStatus(call: Call) {
  const [gate, domains] = await Promise.all([
    call.store.read(gateOf, { organization: call.tenant }),
    call.store.read(domainsOf, { tenant: call.tenant }),
  ]);
  const verified = domains.some((one) => one.verified);
  const requirements: z.output<typeof Requirement>[] = [
    {
      id: 'recovery',
      status: gate.open ? 'satisfied' : 'missing',
      satisfiedBy: gate.recovery,
      howTo: gate.open
        ? 'Nothing is left to do.'
        : 'Call register_recovery_key, sign the challenge, call verify_recovery_key; or let a human open the claim link.',
      advisory: false,
    },
    {
      id: 'billing',
      status: 'not_required',
      satisfiedBy: null,
      howTo: 'set_payment_method says where a payment method can be set up.',
      advisory: true,
    },
    {
      id: 'domain_verified',
      status: verified ? 'satisfied' : 'missing',
      satisfiedBy: null,
      howTo: verified
        ? 'Nothing is left to do.'
        : 'Call add_email_domain, publish the records, call verify_email_domain.',
      advisory: true,
    },
  ];
  return { open: gate.open, requirements, blockers: gate.blockers };
}

export const setPaymentMethod = operation({
  name: 'set_payment_method',
  title: 'Where a payment method is set up',
  toolset: 'billing',
  reach: 'organization',
  action: 'manage',
  description:
    'Returns the page on which a human sets up a payment method, and whether this box requires one. Charges and stores nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: Id('organization').optional() }),
  output: z.object({ setupUrl: z.string(), required: z.boolean() }),
  async run({ settings, baseUrl }) {
    const setupUrl = settings.billingSetupUrl;
    return { setupUrl: setupUrl ?? `${baseUrl()}/billing`, required: setupUrl !== undefined };
  },
});
