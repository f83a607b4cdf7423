import { z } from 'zod';
import { domainsOf } from '../../../mail/store/address/domain.ts';
import { deployGateOf } from '../../recovery/gate-queries.ts';
import { type Call, operation } from '../../core/operation.ts';
import { OwnOrganization } from '../../core/schemas.ts';

const Requirement = z.object({
  id: z.enum(['recovery', 'billing', 'domain_verified']),
  status: z.enum(['satisfied', 'missing', 'not_required']),
  satisfiedBy: z.enum(['claim_email', 'recovery_key']).nullable(),
  howTo: z.string(),
  advisory: z.boolean(),
});

export const getDeployGateStatus = operation({
  name: 'get_deploy_gate_status',
  title: 'Check whether deploying is allowed',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'read',
  description: 'Reports whether this organization may deploy, what is missing, and how to fix it. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: OwnOrganization }),
  output: z.object({ open: z.boolean(), requirements: z.array(Requirement), blockers: z.array(z.string()) }),
  run: (call) => gateStatus(call),
});

/** Deploy gate. `open` depends on recovery alone: this server requires no payment, it only names the payment page. */
export async function gateStatus(call: Call) {
  const [gate, domains] = await Promise.all([
    call.store.read(deployGateOf, { organization: call.tenant }),
    call.store.read(domainsOf, { tenant: call.tenant }),
  ]);
  const verified = domains.some((one) => one.verified);
  const requirements: z.output<typeof Requirement>[] = [
    {
      id: 'recovery',
      status: gate.open ? 'satisfied' : 'missing',
      satisfiedBy: gate.recovery,
      howTo: gate.open
        ? 'Done.'
        : 'Call register_recovery_key, sign the challenge, call verify_recovery_key; or let a human open the claim link.',
      advisory: false,
    },
    {
      id: 'billing',
      status: 'not_required',
      satisfiedBy: null,
      howTo: 'set_payment_method returns the payment page.',
      advisory: true,
    },
    {
      id: 'domain_verified',
      status: verified ? 'satisfied' : 'missing',
      satisfiedBy: null,
      howTo: verified ? 'Done.' : 'Call add_email_domain, publish the records, call verify_email_domain.',
      advisory: true,
    },
  ];
  return { open: gate.open, requirements, blockers: gate.blockers };
}

export const setPaymentMethod = operation({
  name: 'set_payment_method',
  title: 'Get the payment page',
  toolset: 'billing',
  reach: 'organization',
  action: 'manage',
  description:
    'Returns the page on which a human sets up a payment method, and whether this server requires one. Charges and stores nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: OwnOrganization }),
  output: z.object({ setupUrl: z.string(), required: z.boolean() }),
  async run({ settings, baseUrl }) {
    const setupUrl = settings.billingSetupUrl;
    return { setupUrl: setupUrl ?? `${baseUrl()}/billing`, required: setupUrl !== undefined };
  },
});
