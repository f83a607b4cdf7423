import { query, type Read } from '../../store/engine/types.ts';
import { policiesOver } from './policies.ts';
import { type Preset, presetOf } from './presets.ts';
import { strictest } from './strictest.ts';
import { type AgentPolicy, DEFAULT_POLICY } from '../gate/types.ts';

/** A chosen policy, and what it is attached to. */
export interface ChosenPolicy {
  readonly id: number;
  readonly name: string;
  readonly preset: Preset;
  readonly over: 'token' | 'mailbox';
}

/** Policy in force for an agent. */
export interface EffectivePolicy {
  readonly policy: AgentPolicy;
  /** A policy was chosen; else `policy` is the default. */
  readonly governed: boolean;
  readonly chosen: readonly ChosenPolicy[];
}

/** A credential by its public id (null: the password of the mailbox), and the accounts of a tenant it works in. */
export interface PolicySubject {
  readonly tenant: number;
  readonly accounts: readonly number[];
  readonly credential: string | null;
  /** Public ids of its parent tokens, whose policies apply too. */
  readonly from?: readonly string[];
}

/** Combines the policies of a token and of the mailboxes it works in to the strictest. */
async function effectivePolicy(rx: Read, of: PolicySubject): Promise<EffectivePolicy> {
  const found = await policiesOver(rx, { ...of, credentials: [of.credential ?? [], of.from ?? []].flat() });
  if (found.length === 0) return { policy: DEFAULT_POLICY, governed: false, chosen: [] };
  return {
    policy: strictest(found.map(({ rules }) => readPolicy(rules))),
    governed: true,
    chosen: found.map(({ id, name, preset, over }) => ({ id, name, preset: presetOf(preset), over })),
  };
}

/** {@link effectivePolicy} before an action; the gate reads it again. */
export const effectiveAgentPolicy = query('effective-agent-policy', (rx, of: PolicySubject) => effectivePolicy(rx, of));

/** Parses stored rules; fields that an older version did not know get their defaults. */
export function readPolicy(rules: string): AgentPolicy {
  const read = JSON.parse(rules) as Partial<AgentPolicy>;
  return { ...DEFAULT_POLICY, ...read, budgets: { ...DEFAULT_POLICY.budgets, ...read.budgets } };
}
