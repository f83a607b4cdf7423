import type { Command } from '../../mail/store/engine/types.ts';
import { addProposal, decideProposal, forgetProposals, settleProposal } from './proposal-commands.ts';

/** What this area writes. */
export const AGENTS: readonly Command<never, unknown>[] = [
  addProposal,
  decideProposal,
  forgetProposals,
  settleProposal,
];
