import type { ChosenPolicy } from '../../../mail/delivery/agent/policy.ts';
import { presetOf } from '../../../mail/delivery/agent/presets.ts';
import { accountOf } from '../../../mail/store/account.ts';
import { agentPoliciesOf, type StoredAgentPolicy } from '../../../mail/store/agent-policy.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { type PolicyWords, policyWords } from '../../agents/policy-words.ts';
import type { Call } from '../operation.ts';
import { allowedAccounts } from '../scope.ts';

/** Policies that are told of, and mailboxes under each that are named before "and n more". */
const MOST = 10;
const NAMED = 3;

interface Told extends PolicyWords {
  readonly chosen: readonly ChosenPolicy[];
}

/**
 * What holds beside a token's own words where it works in mailboxes that are under policies: each sentence with the
 * addresses that it is about.
 */
export async function mailboxWords(call: Call, own: PolicyWords, attended: boolean): Promise<Told> {
  const told = { chosen: [] as ChosenPolicy[], may: [] as string[], waits: [] as string[], never: [] as string[] };
  for (const { id, name, preset, accounts } of await policiesInReach(call)) {
    const { policy } = await callerPolicy(call, accounts.slice(0, 1));
    const words = policyWords(policy, { attended });
    const where = await named(call, accounts);
    const added = (part: 'may' | 'waits' | 'never'): string[] =>
      words[part].filter((one) => !own[part].includes(one)).map((one) => `${where}: ${one}`);
    told.chosen.push({ id, name, preset: presetOf(preset), over: 'mailbox' });
    for (const part of ['may', 'waits', 'never'] as const) told[part].push(...added(part));
  }
  return told;
}

/** Those that a token of many mailboxes meets in some of them; of one that is limited to mailboxes they are its own. */
async function policiesInReach(call: Call): Promise<(StoredAgentPolicy & { accounts: number[] })[]> {
  const { store, tenant, caller } = call;
  if (caller.kind !== 'token' || caller.mailboxes !== null) return [];
  const within = await allowedAccounts(call);
  const all = await store.read(agentPoliciesOf, { tenant });
  const met = all.map((one) => ({ ...one, accounts: one.accounts.filter((id) => within?.includes(id) ?? true) }));
  return met.filter(({ accounts }) => accounts.length > 0).slice(0, MOST);
}

async function named({ store, tenant }: Call, accounts: readonly number[]): Promise<string> {
  const found = await Promise.all(accounts.slice(0, NAMED).map((id) => store.read(accountOf, { tenant, id })));
  const names = found.flatMap((one) => one?.address ?? []).join(', ');
  return accounts.length > NAMED ? `${names} and ${accounts.length - NAMED} more` : names;
}
