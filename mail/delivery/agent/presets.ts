import { type AgentBudgets, type AgentPolicy, DEFAULT_POLICY } from './types.ts';

/** Policies to begin with. `custom` begins as what holds where nobody chose one. */
export const PRESETS = ['trusted-internal', 'support-desk', 'signup-bot', 'custom'] as const;
export type Preset = (typeof PRESETS)[number];

const NO_BUDGETS = DEFAULT_POLICY.budgets;

/** A slow start with strangers: so many in an hour, in a day, in a week. */
const RAMP = { newRecipientsPerHour: 3, newRecipientsPerDay: 5, newRecipientsPerWeek: 10 };

/** Works among colleagues and people who are known, and meets strangers slowly. */
const INTERNAL: AgentBudgets = {
  ...RAMP,
  messagesPerHour: 60,
  messagesPerDay: 300,
  recipientsPerMessage: 25,
  bytesPerDay: 200_000_000,
};

/** Who writes to a desk is new every time: what bounds it is how much it answers. */
const DESK: AgentBudgets = {
  ...NO_BUDGETS,
  messagesPerHour: 100,
  messagesPerDay: 600,
  recipientsPerMessage: 10,
  bytesPerDay: 200_000_000,
};

/** What each preset says. Under all of them rules that would outlive a compromise wait for a person. */
export const PRESET_POLICIES: Readonly<Record<Preset, AgentPolicy>> = {
  'trusted-internal': { ...DEFAULT_POLICY, rulesWait: true, budgets: INTERNAL },
  'support-desk': { ...DEFAULT_POLICY, sends: 'replies', rulesWait: true, budgets: DESK },
  'signup-bot': { ...DEFAULT_POLICY, sends: 'nobody', rulesWait: true },
  custom: { ...DEFAULT_POLICY, rulesWait: true },
};

/** The preset of a stored name; one that is not known any more is somebody's own. */
export function presetOf(name: string): Preset {
  return PRESETS.find((one) => one === name) ?? 'custom';
}
