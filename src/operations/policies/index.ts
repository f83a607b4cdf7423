import type { Operation } from '../../core/operation.ts';
import { getAgentPolicy } from './get.ts';
import { attachAgentPolicyTo, listAgentPolicies, removeAgentPolicyOf, saveAgentPolicyOf } from './people.ts';
import { decideProposalOf, listProposals } from './proposals.ts';
import { proposeAgentPolicy } from './propose.ts';

export const POLICIES: readonly Operation[] = [getAgentPolicy, proposeAgentPolicy, listProposals];

/** Decisions for people only. */
export const POLICY_DECISIONS: readonly Operation[] = [
  listAgentPolicies,
  saveAgentPolicyOf,
  attachAgentPolicyTo,
  removeAgentPolicyOf,
  decideProposalOf,
];
