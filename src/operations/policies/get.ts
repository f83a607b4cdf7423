import { z } from 'zod';
import {
  effectiveAgentPolicy,
  type EffectivePolicy,
  readPolicy,
  type ChosenPolicy,
} from '../../../mail/agents/policy/effective-policy.ts';
import { presetOf } from '../../../mail/agents/policy/presets.ts';
import { agentPoliciesOf, type StoredAgentPolicy } from '../../../mail/agents/policy/policies.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { isAttended } from '../../agents/queries.ts';
import { describePolicy, type PolicyDescription } from '../../agents/policy-words.ts';
import { publicId } from '../../core/ids.ts';
import { findOrganization } from '../../organizations/commands.ts';
import { type Call, operation } from '../../core/operation.ts';
import { Id } from '../../core/schemas.ts';
import { mailboxOf, outOfScope, allowedAccounts } from '../scope.ts';
import { isLimited, policyIn, Target, tokenIn } from './target.ts';
import { accountInfo } from '../../../mail/store/account/account.ts';

const Named = z.object({ policyId: z.string(), name: z.string(), preset: z.string() });

/** Policy rules on the wire. */
export const RulesShown = z.object({
  sends: z.string(),
  allow: z.array(z.string()),
  block: z.array(z.string()),
  holdAfterReading: z.boolean(),
  rulesWait: z.boolean(),
  budgets: z.record(z.string(), z.number().nullable()),
});

export const getAgentPolicy = operation({
  name: 'get_agent_policy',
  title: 'Get an agent policy',
  toolset: 'mail',
  reach: 'thread',
  action: 'mail_read',
  orAction: 'send',
  description:
    'Explains the policy that applies to you, a mailbox, a token, or one policy: what an agent may do, what needs approval, what is never allowed. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ ...Target, policyId: Id('policy').optional() }),
  output: z.object({
    governed: z.boolean(),
    policies: z.array(Named.extend({ over: z.enum(['token', 'mailbox']) })),
    may: z.array(z.string()),
    waits: z.array(z.string()),
    never: z.array(z.string()),
    rules: RulesShown,
    available: z.array(Named),
  }),
  rest: { method: 'GET', path: '/api/email/agent-policy' },
  async run(call, target) {
    const { policy, chosen } = await meant(call, target);
    const attended = await isAttendedHere(call);
    const own = describePolicy(policy, { attended });
    const nothingNamed = Object.values(target).every((one) => one === undefined);
    const more = nothingNamed ? await mailboxWords(call, own, attended) : NO_MORE;
    const policies = [...chosen, ...more.chosen];
    return {
      governed: policies.length > 0,
      policies: policies.map(({ id, name, preset, over }) => ({
        policyId: publicId('policy', id),
        name,
        preset,
        over,
      })),
      may: [...own.may, ...more.may],
      waits: [...own.waits, ...more.waits],
      never: [...own.never, ...more.never],
      rules: { ...policy, allow: [...policy.allow], block: [...policy.block], budgets: { ...policy.budgets } },
      available: seesAll(call) ? await allOf(call) : [],
    };
  },
});

const NO_MORE = { chosen: [], may: [], waits: [], never: [] };

async function isAttendedHere({ store, tenant }: Call): Promise<boolean> {
  return isAttended(tenant, (await store.read(findOrganization, { id: tenant }))?.claimedAt ?? null);
}

/** Refuses the policies of others to a token that may only read or send mail. */
function seesAll(call: Call): boolean {
  return !isLimited(call) && call.caller.actions.has('read');
}

async function allOf({ store, tenant }: Call): Promise<z.output<typeof Named>[]> {
  const all = await store.read(agentPoliciesOf, { tenant });
  return all.map(({ id, name, preset }) => ({ policyId: publicId('policy', id), name, preset }));
}

const NOT_NARROWED = { narrow: null };

async function meant(
  call: Call,
  {
    mailboxId,
    tokenId,
    policyId,
  }: { mailboxId?: string | undefined; tokenId?: string | undefined; policyId?: string | undefined },
): Promise<EffectivePolicy> {
  const { store, tenant, caller } = call;
  if (tokenId !== undefined && tokenId !== caller.actor && !caller.actions.has('read')) outOfScope(caller);
  if (policyId !== undefined) {
    if (!seesAll(call)) outOfScope(caller);
    const { id, name, preset, rules } = await policyIn(call, policyId);
    return {
      policy: readPolicy(rules),
      governed: true,
      chosen: [{ id, name, preset: presetOf(preset), over: 'token' }],
    };
  }
  if (mailboxId !== undefined) {
    const { id } = await mailboxOf(call, { mailboxId });
    const credential = tokenId ?? (caller.kind === 'token' ? caller.actor : null);
    const { narrow } = tokenId === undefined ? (caller.token ?? NOT_NARROWED) : await tokenIn(call, tokenId);
    return store.read(effectiveAgentPolicy, { tenant, accounts: [id], credential, from: narrow?.from ?? [] });
  }
  if (tokenId === undefined) return callerPolicy(call);
  const { mailboxes, narrow } = await tokenIn(call, tokenId);
  const from = narrow?.from ?? [];
  return store.read(effectiveAgentPolicy, { tenant, accounts: mailboxes ?? [], credential: tokenId, from });
}

/** Maximum policies described, and mailboxes named for each before "and n more". */
const MAX_POLICIES = 10;
const MAX_NAMED = 3;

interface PolicySentence extends PolicyDescription {
  readonly chosen: readonly ChosenPolicy[];
}

/** Returns sentences about mailbox policies that apply besides the token's own policy, each with its addresses. */
async function mailboxWords(call: Call, own: PolicyDescription, attended: boolean): Promise<PolicySentence> {
  const sentences = { chosen: [] as ChosenPolicy[], may: [] as string[], waits: [] as string[], never: [] as string[] };
  for (const { id, name, preset, accounts } of await policiesInReach(call)) {
    const { policy } = await callerPolicy(call, accounts.slice(0, 1));
    const words = describePolicy(policy, { attended });
    const where = await named(call, accounts);
    const added = (part: 'may' | 'waits' | 'never'): string[] =>
      words[part].filter((one) => !own[part].includes(one)).map((one) => `${where}: ${one}`);
    sentences.chosen.push({ id, name, preset: presetOf(preset), over: 'mailbox' });
    for (const part of ['may', 'waits', 'never'] as const) sentences[part].push(...added(part));
  }
  return sentences;
}

/** Returns policies that cover some mailboxes of a token; for a token limited to mailboxes they are its own. */
async function policiesInReach(call: Call): Promise<(StoredAgentPolicy & { accounts: number[] })[]> {
  const { store, tenant, caller } = call;
  if (caller.kind !== 'token' || caller.mailboxes !== null) return [];
  const within = await allowedAccounts(call);
  const all = await store.read(agentPoliciesOf, { tenant });
  const met = all.map((one) => ({ ...one, accounts: one.accounts.filter((id) => within?.includes(id) ?? true) }));
  return met.filter(({ accounts }) => accounts.length > 0).slice(0, MAX_POLICIES);
}

async function named({ store, tenant }: Call, accounts: readonly number[]): Promise<string> {
  const found = await Promise.all(accounts.slice(0, MAX_NAMED).map((id) => store.read(accountInfo, { tenant, id })));
  const names = found.flatMap((one) => one?.address ?? []).join(', ');
  return accounts.length > MAX_NAMED ? `${names} and ${accounts.length - MAX_NAMED} more` : names;
}
