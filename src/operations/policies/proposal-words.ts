import { readPolicy } from '../../../mail/agents/policy/effective-policy.ts';
import { accountsOf } from '../../../mail/store/account/account.ts';
import { agentPoliciesOf } from '../../../mail/agents/policy/policies.ts';
import { describeChanges } from '../../agents/policy-words.ts';
import { publicId } from '../../core/ids.ts';
import { templateNames } from '../../sending/template-commands.ts';
import { listTokens } from '../../tokens/commands.ts';
import { revealInvisible, describeLength } from '../../untrusted/invisible.ts';
import type { Call } from '../../core/operation.ts';
import { RefusedError } from '../../core/refusal.ts';
import { attachAgentPolicyTo, saveAgentPolicyOf } from './people.ts';
import { rulesFrom } from './rules.ts';
import { policyIn, policyOver, findPolicyTarget } from './target.ts';

/** Arguments not shown to people. */
const HIDDEN = new Set(['password']);

/**
 * Renders the arguments of a proposal as visible text, ids with their names. Never truncated: a person must not accept
 * what is hidden behind an ellipsis.
 */
export function shownArguments(given: unknown, names: ReadonlyMap<string, string>): Record<string, string> {
  if (typeof given !== 'object' || given === null) return {};
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      HIDDEN.has(name) ? '(hidden)' : plain(text(named(value, names))),
    ]),
  );
}

/** Loads names for the ids in proposals. */
export async function namesIn({ store, tenant }: Call): Promise<ReadonlyMap<string, string>> {
  const [accounts, tokens, policies, templates] = await Promise.all([
    store.read(accountsOf, { tenant }),
    store.read(listTokens, { organization: tenant }),
    store.read(agentPoliciesOf, { tenant }),
    store.read(templateNames, { organization: tenant }),
  ]);
  return new Map([
    ...accounts.map(({ id, address }) => [publicId('mailbox', id), address] as const),
    ...tokens.map(({ id, name }) => [publicId('token', id), name] as const),
    ...policies.map(({ id, name }) => [publicId('policy', id), name] as const),
    ...templates.map(({ id, name }) => [publicId('template', id), name] as const),
  ]);
}

function named(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => named(one, names));
  const name = typeof value === 'string' ? names.get(value) : undefined;
  return name === undefined ? value : `${name} (${String(value)})`;
}

function plain(text: string): string {
  return revealInvisible(text) + describeLength(text);
}

function text(value: unknown): string {
  const plain = Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : undefined;
  return typeof value === 'string' ? value : (plain ?? JSON.stringify(value));
}

/** Describes what a policy proposal would change; empty for other proposals and for outdated ones. */
export async function changesOf(call: Call, name: string, given: unknown): Promise<string[]> {
  const about = [saveAgentPolicyOf, attachAgentPolicyTo].find((one) => one.name === name);
  const read = about === undefined ? undefined : saveAgentPolicyOf.input.safeParse(given);
  if (read?.success !== true) return [];
  try {
    const { policyId, mailboxId, tokenId, name: _name, ...said } = read.data;
    const there = policyId === undefined ? undefined : await policyIn(call, policyId);
    const named = await findPolicyTarget(call, { mailboxId, tokenId });
    const before =
      named === undefined && there !== undefined ? readPolicy(there.rules) : await policyOver(call, named?.target);
    return describeChanges(before, rulesFrom(said, there).rules).map((change) => revealInvisible(change));
  } catch (error) {
    if (error instanceof RefusedError) return [];
    throw error;
  }
}
