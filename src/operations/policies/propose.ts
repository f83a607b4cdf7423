import { z } from 'zod';
import { propose } from '../../agents/propose.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { outOfScope } from '../scope.ts';
import { attachAgentPolicyTo, saveAgentPolicyOf } from './people.ts';
import { hasRules } from './rules.ts';
import { isLimited, policyIn, PolicyFields, findPolicyTarget } from './target.ts';

/** Result of a proposed operation. */
const Pending = z.object({
  status: z.literal('pending_approval'),
  proposalId: z.string(),
  approveUrl: z.string(),
  expiresAt: z.string(),
  message: z.string(),
});

export const proposeAgentPolicy = operation({
  name: 'propose_agent_policy',
  title: 'Propose an agent policy',
  toolset: 'mail',
  reach: 'any',
  action: 'manage',
  description:
    'Proposes a policy for a mailbox or token, or a change of one. Takes effect only when a person accepts it in the portal; one proposal per target.',
  hints: { idempotent: true },
  input: z.strictObject(PolicyFields),
  output: Pending,
  rest: { method: 'POST', path: '/api/email/agent-policy/proposals', status: 202 },
  async run(call, given) {
    const { policyId, name, ...rest } = given;
    const target = await findPolicyTarget(call, rest);
    if (target === undefined && isLimited(call)) outOfScope(call.caller);
    if (policyId !== undefined) await policyIn(call, policyId);
    const changes = hasRules(given) || name !== undefined;
    if (!changes && (policyId === undefined || target === undefined)) {
      const issues = [{ path: 'preset', message: 'missing' }];
      return refuse('invalid_arguments', 'Give a preset or rules, or a policyId with a target.', { issues });
    }
    const done = changes ? saveAgentPolicyOf : attachAgentPolicyTo;
    return propose(call, done.name, given, target?.id ?? policyId ?? `new policy ${name ?? given.preset ?? ''}`);
  },
});
