import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { OwnOrganization } from '../../core/schemas.ts';
import {
  FACTOR_RULES,
  factorRequiredBy,
  factorRuleOf,
  PROVIDER_RULES,
  setFactorRule,
} from '../../people/rule-commands.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { onlyOwners } from './only-owners.ts';

const SecondFactor = z.enum(FACTOR_RULES).describe('Who needs one; admins: owners too');

const SingleSignOn = z
  .enum(PROVIDER_RULES)
  .describe('Sign-ins by the OpenID provider; required: except owners')
  .optional();

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
    singleSignOn: SingleSignOn,
    members: z.number(),
    withSecondFactor: z.number(),
    required: z.number(),
    requiredWithout: z.number(),
  }),
  rest: { method: 'GET', path: '/api/sign-in-policy' },
  async run({ store, tenant, settings }) {
    const found = (await store.read(factorRuleOf, { organization: tenant })) ?? notFound('organization');
    const { rule: secondFactor, provider, members } = found;
    const required = factorRequiredBy(members.map((one) => ({ ...one, frozen: false, factorRule: secondFactor })));
    return {
      organizationId: publicId('organization', tenant),
      secondFactor,
      singleSignOn: settings.singleSignOn && provider,
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
    'Sets which people need a second factor, and if single sign-on opens the organization; owners only. Those without one can only set one up, from their next page on. Tokens and agents are unaffected.',
  hints: { idempotent: true },
  rule: noMailboxes,
  input: z.strictObject({
    organizationId: OwnOrganization,
    secondFactor: SecondFactor.optional(),
    singleSignOn: SingleSignOn,
  }),
  output: z.object({ organizationId: z.string(), secondFactor: SecondFactor, singleSignOn: SingleSignOn }),
  rest: { method: 'PUT', path: '/api/sign-in-policy' },
  async run(call, { secondFactor: rule, singleSignOn: provider }) {
    onlyOwners(call, 'change the sign-in policy');
    const { singleSignOn: known } = call.settings;
    if (provider !== undefined && known === undefined) noProvider();
    const organizationId = publicId('organization', call.tenant);
    const detail = { ...(rule && { secondFactor: rule }), ...(provider && { singleSignOn: provider }) };
    await call.change(setFactorRule, { organization: call.tenant, rule, provider }, organizationId, detail);
    const now = (await call.store.read(factorRuleOf, { organization: call.tenant })) ?? notFound('organization');
    return { organizationId, secondFactor: now.rule, singleSignOn: known && now.provider };
  },
});

function noProvider(): never {
  return refuse('invalid_arguments', 'This server has no OpenID provider: the operator sets MAILSTEAD_OIDC_ISSUER.', {
    issues: [{ path: 'singleSignOn', message: 'needs an OpenID provider' }],
  });
}
