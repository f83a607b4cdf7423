import type { AppContext } from '../core/app-context.ts';
import { readerOf } from '../../mail/agents/gate/gate-input.ts';
import { type RemainingBudget, readRemainingBudget } from '../../mail/delivery/remaining-budget.ts';
import type { SendVerdict } from '../../mail/agents/gate/sending-policy.ts';
import type { SendLimits } from '../../mail/delivery/submission-draft.ts';
import { limitsOf } from './api-draft.ts';
import type { ApiSender } from './key-auth.ts';

type BudgetContext = Pick<AppContext, 'store' | 'settings' | 'clock' | 'policy'>;

/** Limits and policy verdict, if a submission has already read them. */
interface SenderState {
  limits: Required<SendLimits>;
  verdict: SendVerdict;
}

/** Returns how much a key or token may still send under all its limits; null: no limit. */
export async function remainingBudget(
  world: BudgetContext,
  sender: Pick<ApiSender, 'organization' | 'credential' | 'account' | 'limits'>,
  known?: SenderState,
): Promise<RemainingBudget | null> {
  const { verdict, limits } = known ?? (await readSenderState(world, sender));
  const agent = verdict.kind === 'agent' && verdict.agent.governed ? verdict.agent : null;
  return world.store.read(readRemainingBudget, {
    ...limits,
    agent: agent && { reader: readerOf(agent), budgets: agent.policy.budgets },
    tokenLimits: sender.limits?.sends ?? [],
    now: world.clock(),
  });
}

async function readSenderState(
  world: BudgetContext,
  sender: Pick<ApiSender, 'organization' | 'credential' | 'account'>,
): Promise<SenderState> {
  const { organization: tenant, credential, account } = sender;
  const verdict = await world.policy({ tenant, account, credential, sender: '', recipients: [], size: 0 });
  return { verdict, limits: await limitsOf(world, sender) };
}
