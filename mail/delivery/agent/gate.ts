import type { Read } from '../../store/engine/types.ts';
import type { Submission } from '../submit.ts';
import { overAgentBudget } from './budgets.ts';
import { circleOf } from './circle.ts';
import { egress } from './egress.ts';
import { beyondLimits, hinderedByOthers } from './limits.ts';
import { ruleOut } from './rules.ts';
import type { AgentSending, AgentStop, AgentVerdict } from './types.ts';

/** What stands against mail of an agent, or holds it. Asked inside of the commit, so that nothing gets in between. */
export async function judgeAgent(rx: Read, mail: Submission, agent: AgentSending, now: number): Promise<AgentVerdict> {
  if (agent.secrets.length > 0) return secretStop(agent.secrets);
  const beyond = (await beyondLimits(rx, mail, agent)) ?? (await hinderedByOthers(rx, mail, agent, now));
  if (beyond !== undefined) return beyond;
  const circle = await circleOf(rx, mail, agent);
  const asking = { mail, agent, circle };
  const stop = ruleOut(asking) ?? (await overAgentBudget(rx, asking, now));
  if (stop !== undefined) return stop;
  const reasons = await egress(rx, asking, now);
  return reasons.length === 0 ? { kind: 'go' } : { kind: 'hold', reasons };
}

function secretStop(kinds: readonly string[]): AgentStop {
  const text = `It holds what never leaves (${kinds.join(', ')}): take it out and send it again`;
  return { kind: 'agent-stop', error: 'secret_in_message', reasons: kinds.map((code) => ({ code, text })) };
}
