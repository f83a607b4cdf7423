import { readPolicy } from '../../../mail/delivery/agent/policy.ts';
import { accountsOf } from '../../../mail/store/account.ts';
import { agentPoliciesOf } from '../../../mail/store/agent-policy.ts';
import { changesInWords } from '../../agents/policy-words.ts';
import { publicId } from '../../ids.ts';
import { templateNames } from '../../sending/template-commands.ts';
import { listTokens } from '../../tokens/commands.ts';
import { inPlainSight, measureOf } from '../../untrusted/plain-sight.ts';
import type { Call } from '../operation.ts';
import { Refused } from '../refusal.ts';
import { attachAgentPolicyTo, saveAgentPolicyOf } from './people.ts';
import { rulesFrom } from './rules.ts';
import { policyIn, policyOver, targetOf } from './target.ts';

/** Arguments that nobody reads from a page. */
const HIDDEN = new Set(['password']);

/**
 * The arguments of a proposal, each as text in plain sight; what is named by its id, by name too. They are whole, however
 * long: nobody accepts what stands behind dots.
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

/** What the ids in proposals stand for. */
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
  return inPlainSight(text) + measureOf(text);
}

function text(value: unknown): string {
  const plain = Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join(', ') : undefined;
  return typeof value === 'string' ? value : (plain ?? JSON.stringify(value));
}

/** What a proposal about a policy would change, in words; none for others, and where it fits nothing any more. */
export async function changesOf(call: Call, name: string, given: unknown): Promise<string[]> {
  const about = [saveAgentPolicyOf, attachAgentPolicyTo].find((one) => one.name === name);
  const read = about === undefined ? undefined : saveAgentPolicyOf.input.safeParse(given);
  if (read?.success !== true) return [];
  try {
    const { policyId, mailboxId, tokenId, name: _name, ...said } = read.data;
    const there = policyId === undefined ? undefined : await policyIn(call, policyId);
    const named = await targetOf(call, { mailboxId, tokenId });
    const before =
      named === undefined && there !== undefined ? readPolicy(there.rules) : await policyOver(call, named?.target);
    return changesInWords(before, rulesFrom(said, there).rules).map((change) => inPlainSight(change));
  } catch (error) {
    if (error instanceof Refused) return [];
    throw error;
  }
}
