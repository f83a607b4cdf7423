import type { Verdict } from '../../mail/delivery/policy.ts';
import type { Sender } from './key-auth.ts';
import type { Outbound } from './outbound.ts';

/** What the policy says, with what the tool knows beside: which message is answered, and what its token was narrowed to. */
export function agentVerdict(
  verdict: Verdict,
  { limits = null }: Sender,
  { answers, handsOn, draft }: Pick<Outbound, 'answers' | 'handsOn' | 'draft'>,
): Verdict {
  if (verdict.kind !== 'agent') return verdict;
  return { kind: 'agent', agent: { ...verdict.agent, answers, forwards: handsOn, draft, limits } };
}
