import type { Read } from '../../store/engine/types.ts';
import type { Submission } from '../submit.ts';
import type { AgentSending, AgentVerdict } from './types.ts';

/** What stands against mail of an agent, or holds it. Asked inside of the commit, so that nothing gets in between. */
export async function judgeAgent(
  _rx: Read,
  _mail: Submission,
  agent: AgentSending,
  _now: number,
): Promise<AgentVerdict> {
  if (agent.secrets.length > 0) return secretStop(agent.secrets);
  return { kind: 'go' };
}

function secretStop(kinds: readonly string[]): AgentVerdict {
  const text = `It holds what never leaves (${kinds.join(', ')}): take it out and send it again`;
  return { kind: 'agent-stop', error: 'secret_in_message', reasons: kinds.map((code) => ({ code, text })) };
}
