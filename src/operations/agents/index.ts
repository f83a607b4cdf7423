import type { Operation } from '../../core/operation.ts';
import {
  listAgents,
  setAgentMode,
  startAllAgents,
  stopAllAgents,
  setOwnDailyLetter,
  releaseStoppedMail,
} from './agents.ts';
import { explainDecision } from './explain.ts';

export const AGENTS: readonly Operation[] = [explainDecision];

/** Decisions for people only. */
export const AGENT_DECISIONS: readonly Operation[] = [
  listAgents,
  setAgentMode,
  stopAllAgents,
  startAllAgents,
  releaseStoppedMail,
  setOwnDailyLetter,
];
