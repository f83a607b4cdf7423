import { type AgentBudgets, type AgentPolicy, DEFAULT_POLICY } from './types.ts';

/** What several policies that hold at once allow together: what each of them allows. */
export function strictest(policies: readonly AgentPolicy[]): AgentPolicy {
  const [first, ...others] = policies;
  if (first === undefined) return DEFAULT_POLICY;
  if (others.length === 0) return first;
  return {
    sends: narrowest(policies),
    allow: allowedByAll(policies),
    block: [...new Set(policies.flatMap(({ block }) => block))],
    holdAfterReading: policies.some((one) => one.holdAfterReading),
    rulesWait: policies.some((one) => one.rulesWait),
    budgets: smallest(policies.map(({ budgets }) => budgets)),
  };
}

/** Who may only answer, and only write to some, has no word for both: nobody is left. */
function narrowest(policies: readonly AgentPolicy[]): AgentPolicy['sends'] {
  const said = new Set(policies.map(({ sends }) => sends));
  if (said.has('nobody') || (said.has('replies') && said.has('allowed'))) return 'nobody';
  if (said.has('replies')) return 'replies';
  return said.has('allowed') ? 'allowed' : 'anybody';
}

/**
 * The list by which a policy lets nobody else be written to is that of the whole: a policy without such a bound has no
 * say in it. Where none has a bound, an entry only spares from waiting, and each has to say it.
 */
function allowedByAll(policies: readonly AgentPolicy[]): readonly string[] {
  const bound = policies.filter(({ sends }) => sends === 'allowed');
  const [first = [], ...others] = (bound.length > 0 ? bound : policies).map(({ allow }) => allow);
  return others.reduce(inBoth, first);
}

/** Of entries that name the same people the narrower one. */
function inBoth(one: readonly string[], other: readonly string[]): readonly string[] {
  const kept = [
    ...one.filter((entry) => other.some((wider) => covers(wider, entry))),
    ...other.filter((entry) => one.some((wider) => covers(wider, entry))),
  ];
  return [...new Set(kept)];
}

/** Whether everybody whom an entry names is named by another one. Entries are addresses, or domains, in lower case. */
export function covers(wider: string, entry: string): boolean {
  return wider === entry || (!wider.includes('@') && entry.endsWith(`@${wider}`));
}

function smallest(all: readonly AgentBudgets[]): AgentBudgets {
  const least = (name: keyof AgentBudgets): number | null => {
    const limits = all.map((one) => one[name]).filter((one) => one !== null);
    return limits.length === 0 ? null : Math.min(...limits);
  };
  return {
    messagesPerHour: least('messagesPerHour'),
    messagesPerDay: least('messagesPerDay'),
    newRecipientsPerHour: least('newRecipientsPerHour'),
    newRecipientsPerDay: least('newRecipientsPerDay'),
    newRecipientsPerWeek: least('newRecipientsPerWeek'),
    recipientsPerMessage: least('recipientsPerMessage'),
    bytesPerDay: least('bytesPerDay'),
  };
}
