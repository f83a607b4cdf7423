import { z } from 'zod';
import {
  agentPoliciesOf,
  attachAgentPolicy,
  MAX_AGENT_POLICIES,
  removeAgentPolicy,
  saveAgentPolicy,
} from '../../../mail/agents/policy/policies.ts';
import { readPolicy } from '../../../mail/agents/policy/effective-policy.ts';
import { describePolicy } from '../../agents/policy-words.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf } from '../../core/schemas.ts';
import { outOfScope } from '../scope.ts';
import { RulesShown } from './get.ts';
import { rulesFrom } from './rules.ts';
import { policyIn, PolicyFields, Target, findPolicyTarget } from './target.ts';

const Saved = z.object({ policyId: z.string(), name: z.string(), preset: z.string(), targetId: z.string().nullable() });

/** Creates or changes a policy, and attaches it to a target if given. */
export const saveAgentPolicyOf = operation({
  name: 'save_agent_policy',
  title: 'Create or update an agent policy',
  toolset: 'mail',
  reach: 'any',
  action: 'manage',
  peopleOnly: true,
  description:
    'Creates an agent policy from a preset, or changes one; omitted fields stay. With mailboxId or tokenId it applies there from now on.',
  hints: { idempotent: true },
  input: z.strictObject(PolicyFields),
  output: Saved,
  async run(call, { policyId, name: given, mailboxId, tokenId, ...said }) {
    withoutMembers(call);
    const there = policyId === undefined ? undefined : await policyIn(call, policyId);
    const named = await findPolicyTarget(call, { mailboxId, tokenId });
    const { preset, rules } = rulesFrom(said, there);
    const name = given ?? there?.name ?? preset;
    const row = { tenant: call.tenant, id: there?.id ?? null, name, preset, rules: JSON.stringify(rules) };
    const detail = { name, preset, sends: rules.sends, attachedTo: named?.id ?? null };
    const done = await call.change(saveAgentPolicy, { ...row, attach: named?.target ?? null }, name, detail);
    switch (done.kind) {
      case 'saved':
        return { policyId: publicId('policy', done.id), name, preset, targetId: named?.id ?? null };
      case 'name-taken':
        return refuse('already_exists', `A policy named "${name}" already exists: choose another name.`, {
          resource: 'policy',
        });
      case 'too-many':
        return refuse(
          'conflict',
          `Limit reached: an organization has at most ${MAX_AGENT_POLICIES} policies. Remove one first.`,
          {
            resource: 'policy',
          },
        );
      case 'missing':
        return notFound('policy');
    }
  },
});

/** Refuses members: owners and admins decide about agents. */
function withoutMembers({ caller }: Call): void {
  if (caller.user?.role === 'member') outOfScope(caller);
}

export const attachAgentPolicyTo = operation({
  name: 'attach_agent_policy',
  title: 'Attach an agent policy',
  toolset: 'mail',
  reach: 'any',
  action: 'manage',
  peopleOnly: true,
  description:
    "Puts a mailbox or token under a policy instead of its former one; without policyId it has none. The password of such a mailbox counts as an agent's too.",
  hints: { idempotent: true },
  input: z.strictObject({ ...Target, policyId: Id('policy').optional() }),
  output: z.object({ targetId: z.string(), policyId: z.string().nullable() }),
  async run(call, { policyId, ...which }) {
    withoutMembers(call);
    const named = await findPolicyTarget(call, which);
    if (named === undefined) {
      const issues = [{ path: 'mailboxId', message: 'missing' }];
      return refuse('invalid_arguments', 'Give mailboxId or tokenId.', { issues });
    }
    const policy = policyId === undefined ? null : (await policyIn(call, policyId)).id;
    const input = { tenant: call.tenant, policy, target: named.target };
    const done = await call.change(attachAgentPolicy, input, named.id, { policyId: policyId ?? null });
    if (done.kind === 'missing') return notFound('policy');
    return { targetId: named.id, policyId: policyId ?? null };
  },
});

export const removeAgentPolicyOf = operation({
  name: 'remove_agent_policy',
  title: 'Remove an agent policy',
  toolset: 'mail',
  reach: 'organization',
  action: 'manage',
  peopleOnly: true,
  description: 'Removes a policy that is attached to nothing.',
  hints: { destructive: true, idempotent: true },
  input: z.strictObject({ policyId: Id('policy') }),
  output: z.object({ removed: z.literal(true) }),
  async run(call, { policyId }) {
    const input = { tenant: call.tenant, id: rowId('policy', policyId) ?? 0 };
    const done = await call.change(removeAgentPolicy, input, policyId);
    if (done.kind === 'missing') return notFound('policy');
    if (done.kind === 'attached') {
      refuse('conflict', 'The policy is still attached to a mailbox or token: attach another policy, or none, first.', {
        resource: 'policy',
      });
    }
    return { removed: true as const };
  },
});

export const listAgentPolicies = operation({
  name: 'list_agent_policies',
  title: 'List agent policies',
  toolset: 'mail',
  reach: 'organization',
  action: 'read',
  peopleOnly: true,
  description: 'Lists the agent policies, in words and rules, with the targets of each. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    policies: z.array(
      Saved.omit({ targetId: true }).extend({
        rules: RulesShown,
        may: z.array(z.string()),
        waits: z.array(z.string()),
        never: z.array(z.string()),
        mailboxIds: z.array(z.string()),
        tokenIds: z.array(z.string()),
        changedAt: z.string(),
      }),
    ),
  }),
  async run({ store, tenant }) {
    const all = await store.read(agentPoliciesOf, { tenant });
    return {
      policies: all.map(({ id, name, preset, rules: stored, accounts, credentials, changedAt }) => {
        const rules = readPolicy(stored);
        const { may, waits, never } = describePolicy(rules);
        return {
          policyId: publicId('policy', id),
          name,
          preset,
          rules: { ...rules, allow: [...rules.allow], block: [...rules.block], budgets: { ...rules.budgets } },
          may: [...may],
          waits: [...waits],
          never: [...never],
          mailboxIds: accounts.map((account) => publicId('mailbox', account)),
          tokenIds: credentials,
          changedAt: isoOf(changedAt),
        };
      }),
    };
  },
});
