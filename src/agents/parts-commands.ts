import type { Command } from '../../mail/store/engine/types.ts';
import { releaseAgentMail, setTokenMode, stopAgents } from './mode-commands.ts';
import { noteCatalogue, tellAuditHead, tellCatalogue } from './pin-commands.ts';
import { addProposal, decideProposal, forgetProposals, settleProposal } from './proposal-commands.ts';

/** What this area writes. */
export const AGENTS: readonly Command<never, unknown>[] = [
  addProposal,
  decideProposal,
  forgetProposals,
  noteCatalogue,
  releaseAgentMail,
  setTokenMode,
  settleProposal,
  stopAgents,
  tellAuditHead,
  tellCatalogue,
];
