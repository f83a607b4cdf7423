import type { Call } from '../core/operation.ts';
import { effectiveAgentPolicy, type EffectivePolicy } from '../../mail/agents/policy/effective-policy.ts';
import { DEFAULT_POLICY } from '../../mail/agents/gate/types.ts';

const FREE: EffectivePolicy = { policy: DEFAULT_POLICY, governed: false, chosen: [] };

/**
 * Policy of a caller: of its token and parent tokens, of the mailboxes it is limited to, and of those that the call is about
 * (`about`: rows). People have none.
 */
export async function callerPolicy(
  { store, caller }: Pick<Call, 'store' | 'caller'>,
  about: readonly number[] = [],
): Promise<EffectivePolicy> {
  if (caller.kind !== 'token' || caller.organization === undefined) return FREE;
  return store.read(effectiveAgentPolicy, {
    tenant: caller.organization,
    accounts: [...(caller.mailboxes ?? []), ...about],
    credential: caller.actor,
    from: caller.token?.narrow?.from ?? [],
  });
}
