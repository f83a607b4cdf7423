import type { Operation } from '../operation.ts';
import { listAgents, setAgentMode, startAllAgents, stopAllAgents } from './agents.ts';
import { setOwnDailyLetter } from './daily-letter.ts';
import { explainDecision } from './explain.ts';
import { releaseStoppedMail } from './release.ts';

export const AGENTS: readonly Operation[] = [explainDecision];

/** What only people decide. */
export const AGENT_DECISIONS: readonly Operation[] = [
  listAgents,
  setAgentMode,
  stopAllAgents,
  startAllAgents,
  releaseStoppedMail,
  setOwnDailyLetter,
];
