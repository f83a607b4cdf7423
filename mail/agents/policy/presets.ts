import { type AgentBudgets, type AgentPolicy, DEFAULT_POLICY } from '../gate/types.ts';

/** Policies to begin with. `custom` begins with the default rules. */
export const PRESETS = ['trusted-internal', 'support-desk', 'signup-bot', 'custom'] as const;
export type Preset = (typeof PRESETS)[number];

const NO_BUDGETS = DEFAULT_POLICY.budgets;

/** Slow start with new recipients: limits an hour, a day, a week. */
const RAMP = { newRecipientsPerHour: 3, newRecipientsPerDay: 5, newRecipientsPerWeek: 10 };

/** Writes to colleagues and known people, and slowly to new ones. */
const INTERNAL: AgentBudgets = {
  ...RAMP,
  messagesPerHour: 60,
  messagesPerDay: 300,
  recipientsPerMessage: 25,
  bytesPerDay: 200_000_000,
};

/** Senders to a support mailbox are mostly new: the number of answers is limited instead. */
const SUPPORT: AgentBudgets = {
  ...NO_BUDGETS,
  messagesPerHour: 100,
  messagesPerDay: 600,
  recipientsPerMessage: 10,
  bytesPerDay: 200_000_000,
};

/** Rules of each preset. Rules that would outlive a compromise always await approval. */
export const PRESET_POLICIES: Readonly<Record<Preset, AgentPolicy>> = {
  'trusted-internal': { ...DEFAULT_POLICY, rulesWait: true, budgets: INTERNAL },
  'support-desk': { ...DEFAULT_POLICY, sends: 'replies', rulesWait: true, budgets: SUPPORT },
  'signup-bot': { ...DEFAULT_POLICY, sends: 'nobody', rulesWait: true },
  custom: { ...DEFAULT_POLICY, rulesWait: true },
};

/** Preset of a stored name; an unknown one is `custom`. */
export function presetOf(name: string): Preset {
  return PRESETS.find((one) => one === name) ?? 'custom';
}
