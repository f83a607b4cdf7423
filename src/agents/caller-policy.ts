import { effectiveAgentPolicy, type EffectivePolicy } from '../../mail/delivery/agent/policy.ts';
import { DEFAULT_POLICY } from '../../mail/delivery/agent/types.ts';
import type { Call } from '../operations/operation.ts';

const FREE: EffectivePolicy = { policy: DEFAULT_POLICY, governed: false, chosen: [] };

/** The policy under which a caller works: that of its token, and of the mailboxes that it is limited to. People have none. */
export async function callerPolicy({ store, caller }: Pick<Call, 'store' | 'caller'>): Promise<EffectivePolicy> {
  if (caller.kind !== 'token' || caller.organization === undefined) return FREE;
  return store.read(effectiveAgentPolicy, {
    tenant: caller.organization,
    accounts: caller.mailboxes ?? [],
    credential: caller.actor,
  });
}
