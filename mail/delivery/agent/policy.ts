import { query, type Read } from '../../store/engine/types.ts';
import { policiesOver } from '../../store/agent-policy.ts';
import { type Preset, presetOf } from './presets.ts';
import { strictest } from './strictest.ts';
import { type AgentPolicy, DEFAULT_POLICY } from './types.ts';

/** A policy that somebody chose, and for what. */
export interface ChosenPolicy {
  readonly id: number;
  readonly name: string;
  readonly preset: Preset;
  readonly over: 'token' | 'mailbox';
}

/** What holds for an agent now. */
export interface EffectivePolicy {
  readonly policy: AgentPolicy;
  /** Somebody chose one; else `policy` is what holds everywhere. */
  readonly governed: boolean;
  readonly chosen: readonly ChosenPolicy[];
}

/** Who works where: a credential by its public id (null: the password of the mailbox), in these accounts of a tenant. */
export interface Governed {
  readonly tenant: number;
  readonly accounts: readonly number[];
  readonly credential: string | null;
  /** Public ids of the tokens that it was narrowed from: it is part of each of them. */
  readonly from?: readonly string[];
}

/** The strictest of the policies of a token and of the mailboxes in which it works. */
async function effectivePolicy(rx: Read, of: Governed): Promise<EffectivePolicy> {
  const found = await policiesOver(rx, { ...of, credentials: [of.credential ?? [], of.from ?? []].flat() });
  if (found.length === 0) return { policy: DEFAULT_POLICY, governed: false, chosen: [] };
  return {
    policy: strictest(found.map(({ rules }) => readPolicy(rules))),
    governed: true,
    chosen: found.map(({ id, name, preset, over }) => ({ id, name, preset: presetOf(preset), over })),
  };
}

/** {@link effectivePolicy} before anything is done; the gate asks again. */
export const effectiveAgentPolicy = query('effective-agent-policy', (rx, of: Governed) => effectivePolicy(rx, of));

/** Rules as they are stored; what an older version did not know is as where nobody chose. */
export function readPolicy(rules: string): AgentPolicy {
  const read = JSON.parse(rules) as Partial<AgentPolicy>;
  return { ...DEFAULT_POLICY, ...read, budgets: { ...DEFAULT_POLICY.budgets, ...read.budgets } };
}
