import { effectiveAgentPolicy, type EffectivePolicy } from '../../mail/delivery/agent/policy.ts';
import { DEFAULT_POLICY } from '../../mail/delivery/agent/types.ts';
import type { Call } from '../operations/operation.ts';

const FREE: EffectivePolicy = { policy: DEFAULT_POLICY, governed: false, chosen: [] };

/**
 * The policy under which a caller works: that of its token and of those it was narrowed from, of the mailboxes that it is
 * limited to, and of those that its call is `about` (rows). People have none.
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
