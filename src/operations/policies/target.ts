import { publicId, rowId } from '../../core/ids.ts';
import { type AgentPolicy, DEFAULT_POLICY } from '../../../mail/agents/gate/types.ts';
import { effectiveAgentPolicy, readPolicy } from '../../../mail/agents/policy/effective-policy.ts';
import { agentPoliciesOf, type PolicyTarget, type StoredAgentPolicy } from '../../../mail/agents/policy/policies.ts';
import { isStrict } from '../../agents/policy-words.ts';
import { listTokens } from '../../tokens/commands.ts';
import type { Call } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, Line } from '../../core/schemas.ts';
import { Rules } from './rules.ts';
import { mailboxOf, outOfScope } from '../scope.ts';
import type { TokenRow } from '../../core/caller.ts';

/** Target of a policy: a mailbox or a token. */
export const Target = { mailboxId: Id('mailbox').optional(), tokenId: Id('token').optional() };

/** Arguments that describe a policy and its target. */
export const PolicyFields = {
  ...Target,
  policyId: Id('policy').optional(),
  name: Line(1, 80).describe('Name of the policy').optional(),
  ...Rules,
};

interface GivenTarget {
  mailboxId?: string | undefined;
  tokenId?: string | undefined;
}

/** Returns the named mailbox or token, within the caller's limits; undefined: none is named. */
export async function findPolicyTarget(
  call: Call,
  { mailboxId, tokenId }: GivenTarget,
): Promise<{ id: string; target: PolicyTarget } | undefined> {
  if (mailboxId !== undefined && tokenId !== undefined) {
    const issues = [{ path: 'tokenId', message: 'only one of both' }];
    refuse('invalid_arguments', 'Give mailboxId or tokenId, not both.', { issues });
  }
  if (mailboxId !== undefined) {
    const { id } = await mailboxOf(call, { mailboxId });
    return { id: mailboxId, target: { account: id } };
  }
  if (tokenId === undefined) return undefined;
  await tokenIn(call, tokenId);
  return { id: tokenId, target: { credential: tokenId } };
}

/** Finds an active token of the organization; a limited caller may only name itself. */
export async function tokenIn(call: Call, tokenId: string): Promise<Pick<TokenRow, 'mailboxes' | 'narrow'>> {
  const all = await call.store.read(listTokens, { organization: call.tenant });
  const found = all.find((one) => publicId('token', one.id) === tokenId && one.revokedAt === null);
  if (found === undefined) return notFound('token');
  if (isLimited(call) && call.caller.actor !== tokenId) outOfScope(call.caller);
  return found;
}

export function isLimited({ caller }: Call): boolean {
  return caller.project !== null || caller.service !== null || caller.mailboxes !== null;
}

/** Finds a policy of the organization. */
export async function policyIn({ store, tenant }: Call, policyId: string): Promise<StoredAgentPolicy> {
  const id = rowId('policy', policyId);
  const all = await store.read(agentPoliciesOf, { tenant });
  return all.find((one) => one.id === id) ?? notFound('policy');
}

/**
 * Returns the row of a policy to attach at creation. A token may only attach one that holds whatever would be held
 * without a policy: a person attaches looser ones.
 */
export async function attachable(call: Call, policyId: string): Promise<number> {
  const { id, name, rules } = await policyIn(call, policyId);
  if (call.caller.kind === 'token' && !isStrict(readPolicy(rules))) {
    refuse(
      'action_not_allowed',
      `The policy "${name}" is less strict than the default, so a person has to attach it in the portal.`,
      {
        requiredAction: 'person',
        grantedActions: [...call.caller.actions],
      },
    );
  }
  return id;
}

/** Loads the effective policy of a target. */
export async function policyOver(call: Call, target: PolicyTarget | undefined): Promise<AgentPolicy> {
  if (target === undefined) return DEFAULT_POLICY;
  const accounts = 'account' in target ? [target.account] : [];
  const credential = 'account' in target ? null : target.credential;
  return (await call.store.read(effectiveAgentPolicy, { tenant: call.tenant, accounts, credential })).policy;
}
