import { type AgentBudgets, type AgentPolicy, DEFAULT_POLICY } from '../gate/types.ts';

/** Combines policies: allows only what each of them allows. */
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

/** No value expresses "only answers" and "only listed" at once, so both give `nobody`. */
function narrowest(policies: readonly AgentPolicy[]): AgentPolicy['sends'] {
  const modes = new Set(policies.map(({ sends }) => sends));
  if (modes.has('nobody') || (modes.has('replies') && modes.has('allowed'))) return 'nobody';
  if (modes.has('replies')) return 'replies';
  return modes.has('allowed') ? 'allowed' : 'anybody';
}

/**
 * Combines allow lists. If some policies allow only listed recipients, their lists are intersected and the others ignored.
 * Else an entry only exempts from holding, and each policy must have it.
 */
function allowedByAll(policies: readonly AgentPolicy[]): readonly string[] {
  const bound = policies.filter(({ sends }) => sends === 'allowed');
  const [first = [], ...others] = (bound.length > 0 ? bound : policies).map(({ allow }) => allow);
  return others.reduce(intersect, first);
}

/** Intersects two lists; of two entries for the same addresses the narrower is kept. */
function intersect(one: readonly string[], other: readonly string[]): readonly string[] {
  const kept = [
    ...one.filter((entry) => other.some((wider) => covers(wider, entry))),
    ...other.filter((entry) => one.some((wider) => covers(wider, entry))),
  ];
  return [...new Set(kept)];
}

/** Tests if an entry covers all addresses of another. Entries are addresses or domains in lower case. */
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

/** Tests if a list of addresses and domains names an address (key). A domain does not name its subdomains. */
export function isListed(list: readonly string[], key: string): boolean {
  const domain = key.slice(key.lastIndexOf('@') + 1);
  return list.some((one) => one.toLowerCase() === key || one.toLowerCase() === domain);
}
