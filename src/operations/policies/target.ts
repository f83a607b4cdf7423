import { type AgentPolicy, DEFAULT_POLICY } from '../../../mail/delivery/agent/types.ts';
import { effectiveAgentPolicy, readPolicy } from '../../../mail/delivery/agent/policy.ts';
import { agentPoliciesOf, type PolicyTarget, type StoredAgentPolicy } from '../../../mail/store/agent-policy.ts';
import { publicId, rowId } from '../../ids.ts';
import { isTight } from '../../agents/policy-words.ts';
import { listTokens, type TokenRow } from '../../tokens/commands.ts';
import type { Call } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id } from '../schemas.ts';
import { mailboxOf, outOfScope } from '../scope.ts';

/** What a policy is for: a mailbox or a token. */
export const Target = { mailboxId: Id('mailbox').optional(), tokenId: Id('token').optional() };

interface GivenTarget {
  mailboxId?: string | undefined;
  tokenId?: string | undefined;
}

/** The mailbox or token that is meant, within the caller's limits; undefined: none is named. */
export async function targetOf(
  call: Call,
  { mailboxId, tokenId }: GivenTarget,
): Promise<{ id: string; target: PolicyTarget } | undefined> {
  if (mailboxId !== undefined && tokenId !== undefined) {
    const issues = [{ path: 'tokenId', message: 'is one too many' }];
    refuse('invalid_arguments', 'Say mailboxId or tokenId, not both.', { issues });
  }
  if (mailboxId !== undefined) {
    const { id } = await mailboxOf(call, { mailboxId });
    return { id: mailboxId, target: { account: id } };
  }
  if (tokenId === undefined) return undefined;
  await tokenIn(call, tokenId);
  return { id: tokenId, target: { credential: tokenId } };
}

/** A token of the organization that holds; to a limited caller only its own. */
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

/** The policy of the organization that is meant. */
export async function policyIn({ store, tenant }: Call, policyId: string): Promise<StoredAgentPolicy> {
  const id = rowId('policy', policyId);
  const all = await store.read(agentPoliciesOf, { tenant });
  return all.find((one) => one.id === id) ?? notFound('policy');
}

/**
 * The row of a policy that is attached as something is made. A token gives nothing away by that which would wait without
 * a policy: a person attaches those that let more go.
 */
export async function attachable(call: Call, policyId: string): Promise<number> {
  const { id, name, rules } = await policyIn(call, policyId);
  if (call.caller.kind === 'token' && !isTight(readPolicy(rules))) {
    refuse(
      'action_not_allowed',
      `The policy "${name}" spares mail from waiting, so a person attaches it in the portal.`,
      {
        requiredAction: 'person',
        grantedActions: [...call.caller.actions],
      },
    );
  }
  return id;
}

/** What holds for a target now. */
export async function policyOver(call: Call, target: PolicyTarget | undefined): Promise<AgentPolicy> {
  if (target === undefined) return DEFAULT_POLICY;
  const accounts = 'account' in target ? [target.account] : [];
  const credential = 'account' in target ? null : target.credential;
  return (await call.store.read(effectiveAgentPolicy, { tenant: call.tenant, accounts, credential })).policy;
}
