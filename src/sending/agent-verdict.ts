import { DEFAULT_POLICY } from '../../mail/delivery/agent/types.ts';
import type { Verdict } from '../../mail/delivery/policy.ts';
import type { Sender } from './key-auth.ts';
import type { Outbound } from './outbound.ts';

/** What the gate is told of mail that nothing else stands against: of an agent's, who it is and what it may. */
export function agentVerdict(
  verdict: Verdict,
  { agent, limits = null }: Sender,
  { answers, handsOn }: Pick<Outbound, 'answers' | 'handsOn'>,
): Verdict {
  if (verdict.kind !== 'allow' || agent === undefined) return verdict;
  return {
    kind: 'agent',
    agent: {
      credential: agent,
      mode: 'normal',
      policy: DEFAULT_POLICY,
      governed: false,
      answers,
      forwards: handsOn,
      secrets: [],
      attended: true,
      limits,
    },
  };
}
