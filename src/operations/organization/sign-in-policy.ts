import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { notFound } from '../../core/refusal.ts';
import { OwnOrganization } from '../../core/schemas.ts';
import { FACTOR_RULES, factorRequiredBy, factorRuleOf, setFactorRule } from '../../people/rule-commands.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { onlyOwners } from './only-owners.ts';

const SecondFactor = z.enum(FACTOR_RULES).describe('Who needs one; admins: owners too');

export const getSignInPolicy = operation({
  name: 'get_sign_in_policy',
  title: 'Get the sign-in policy',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  description: 'Returns which people need a second factor to sign in, and how many of them have none yet.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: OwnOrganization }),
  output: z.object({
    organizationId: z.string(),
    secondFactor: SecondFactor,
    members: z.number(),
    withSecondFactor: z.number(),
    required: z.number(),
    requiredWithout: z.number(),
  }),
  rest: { method: 'GET', path: '/api/sign-in-policy' },
  async run({ store, tenant }) {
    const found = (await store.read(factorRuleOf, { organization: tenant })) ?? notFound('organization');
    const { rule: secondFactor, members } = found;
    const required = factorRequiredBy(members.map((one) => ({ ...one, frozen: false, factorRule: secondFactor })));
    return {
      organizationId: publicId('organization', tenant),
      secondFactor,
      members: members.length,
      withSecondFactor: members.filter((one) => one.hasFactor).length,
      required: required.length,
      requiredWithout: required.filter((one) => !one.hasFactor).length,
    };
  },
});

export const setSignInPolicy = operation({
  name: 'set_sign_in_policy',
  title: 'Set the sign-in policy',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description:
    'Sets which people need a second factor; owners only. Those without one can only set one up, from their next page on. Tokens and agents are unaffected.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({ organizationId: OwnOrganization, secondFactor: SecondFactor }),
  output: z.object({ organizationId: z.string(), secondFactor: SecondFactor }),
  rest: { method: 'PUT', path: '/api/sign-in-policy' },
  async run(call, { secondFactor }) {
    onlyOwners(call, 'change the sign-in policy');
    const organizationId = publicId('organization', call.tenant);
    const input = { organization: call.tenant, rule: secondFactor };
    const done = await call.change(setFactorRule, input, organizationId, { secondFactor });
    return done.kind === 'missing' ? notFound('organization') : { organizationId, secondFactor };
  },
});
