import type { Read } from '../../store/engine/types.ts';
import type { AgentMail, WeighedMail } from './gate-input.ts';
import { newRecipientsOf, exceededBudget } from './budgets.ts';
import { recipientContext } from './recipient-context.ts';
import { holdReasons, weightOf } from './hold-reasons.ts';
import { exceededLimits, findHindrance } from './limits.ts';
import { forbiddenByRules } from './rules.ts';
import type { AgentSending, AgentStop, Reason } from './types.ts';

/** Accepted mail of an agent, with the reasons to hold it. */
export interface PassedAgentMail {
  kind: 'passed';
  mail: WeighedMail;
  /** Empty: it is sent. */
  reasons: readonly Reason[];
}

/** Rejects mail of an agent, or returns why it is held. Runs inside the commit, so that no change comes in between. */
export async function checkAgentMail(
  rx: Read,
  mail: AgentMail,
  agent: AgentSending,
  now: number,
): Promise<AgentStop | PassedAgentMail> {
  if (agent.secrets.length > 0) return secretStop(agent.secrets);
  const { answers, limits } = agent;
  const beyond =
    (limits === null ? undefined : await exceededLimits(rx, mail, answers, limits)) ??
    (await findHindrance(rx, mail, agent, now));
  if (beyond !== undefined) return beyond;
  const input = { mail, agent, context: await recipientContext(rx, mail, agent) };
  const forbidden = forbiddenByRules(input);
  if (forbidden !== undefined) return forbidden;
  const weighed = {
    ...input,
    fresh: await newRecipientsOf(rx, input),
    weight: agent.attended ? 1 : await weightOf(rx, input, now),
  };
  const over = await exceededBudget(rx, weighed, now);
  if (over !== undefined) return over;
  return { kind: 'passed', mail: weighed, reasons: await holdReasons(rx, input, now) };
}

function secretStop(kinds: readonly string[]): AgentStop {
  const text = `Blocked: the message contains a secret (${kinds.join(', ')}). Remove it, or retry with quote: false if the quoted original contains it`;
  return { kind: 'agent-stop', error: 'secret_in_message', reasons: kinds.map((code) => ({ code, text })) };
}
