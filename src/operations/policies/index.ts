import type { Operation } from '../operation.ts';
import { getAgentPolicy } from './get.ts';
import { attachAgentPolicyTo, listAgentPolicies, removeAgentPolicyOf, saveAgentPolicyOf } from './people.ts';
import { decideProposalOf, listProposals } from './proposals.ts';
import { proposeAgentPolicy } from './propose.ts';

export const POLICIES: readonly Operation[] = [getAgentPolicy, proposeAgentPolicy, listProposals];

/** What only people decide. */
export const POLICY_DECISIONS: readonly Operation[] = [
  listAgentPolicies,
  saveAgentPolicyOf,
  attachAgentPolicyTo,
  removeAgentPolicyOf,
  decideProposalOf,
];
