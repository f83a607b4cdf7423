import { readerOf } from '../../mail/delivery/agent/asking.ts';
import { type Left, leftToSend } from '../../mail/delivery/left-to-send.ts';
import type { World } from '../operations/world.ts';
import { allowanceOf, programBudgets } from './allowance.ts';
import type { Sender } from './key-auth.ts';

type Ground = Pick<World, 'store' | 'settings' | 'clock' | 'policy'>;

/** How much more a key or a token may send now, by all that limits it; null: nothing does. */
export async function leftFor(
  { store, settings, clock, policy }: Ground,
  {
    organization: tenant,
    credential,
    account,
    limits,
  }: Pick<Sender, 'organization' | 'credential' | 'account' | 'limits'>,
): Promise<Left | null> {
  const verdict = await policy({ tenant, account, credential, sender: '', recipients: [], size: 0 });
  const agent = verdict.kind === 'agent' && verdict.agent.governed ? verdict.agent : null;
  return store.read(leftToSend, {
    tenant,
    allowance: await allowanceOf(store, settings, tenant),
    budgets: programBudgets(settings, { organization: tenant, credential, account }),
    agent: agent && { reader: readerOf(agent), budgets: agent.policy.budgets },
    sends: limits?.sends ?? [],
    now: clock(),
  });
}
