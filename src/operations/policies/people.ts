import { z } from 'zod';
import {
  agentPoliciesOf,
  attachAgentPolicy,
  MOST_AGENT_POLICIES,
  removeAgentPolicy,
  saveAgentPolicy,
} from '../../../mail/store/agent-policy.ts';
import { readPolicy } from '../../../mail/delivery/agent/policy.ts';
import { policyWords } from '../../agents/policy-words.ts';
import { publicId, rowId } from '../../ids.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, isoOf, Line } from '../schemas.ts';
import { outOfScope } from '../scope.ts';
import { RulesShown } from './get.ts';
import { Rules, rulesFrom } from './rules.ts';
import { policyIn, Target, targetOf } from './target.ts';

const Saved = z.object({ policyId: z.string(), name: z.string(), preset: z.string(), targetId: z.string().nullable() });

/** Makes or changes a policy, and attaches it when something is named. */
export const saveAgentPolicyOf = operation({
  name: 'save_agent_policy',
  title: 'Make or change a policy for agents',
  toolset: 'mail',
  reach: 'any',
  action: 'manage',
  peopleOnly: true,
  description:
    'Makes a policy for agents from a preset, or changes one; what is left out stays. With mailboxId or tokenId it holds there from now on.',
  hints: { idempotent: true },
  input: z.strictObject({ ...Target, policyId: Id('policy').optional(), name: Line(1, 80).optional(), ...Rules }),
  output: Saved,
  async run(call, { policyId, name: given, mailboxId, tokenId, ...said }) {
    withoutMembers(call);
    const there = policyId === undefined ? undefined : await policyIn(call, policyId);
    const named = await targetOf(call, { mailboxId, tokenId });
    const { preset, rules } = rulesFrom(said, there);
    const name = given ?? there?.name ?? preset;
    const row = { tenant: call.tenant, id: there?.id ?? null, name, preset, rules: JSON.stringify(rules) };
    const detail = { name, preset, sends: rules.sends, attachedTo: named?.id ?? null };
    const done = await call.change(saveAgentPolicy, { ...row, attach: named?.target ?? null }, name, detail);
    switch (done.kind) {
      case 'saved':
        return { policyId: publicId('policy', done.id), name, preset, targetId: named?.id ?? null };
      case 'name-taken':
        return refuse('already_exists', `There is a policy "${name}" already: choose another name.`, {
          resource: 'policy',
        });
      case 'too-many':
        return refuse('conflict', `An organization has ${MOST_AGENT_POLICIES} policies at most: remove one first.`, {
          resource: 'policy',
        });
      case 'missing':
        return notFound('policy');
    }
  },
});

/** A person of some mailboxes only has no say in what the owners decide about agents. */
function withoutMembers({ caller }: Call): void {
  if (caller.user?.role === 'member') outOfScope(caller);
}

export const attachAgentPolicyTo = operation({
  name: 'attach_agent_policy',
  title: 'Put a mailbox or a token under a policy',
  toolset: 'mail',
  reach: 'any',
  action: 'manage',
  peopleOnly: true,
  description:
    'Puts a mailbox or a token under a policy instead of the one that it had; without policyId it has none any more. The password of such a mailbox is an agent’s too.',
  hints: { idempotent: true },
  input: z.strictObject({ ...Target, policyId: Id('policy').optional() }),
  output: z.object({ targetId: z.string(), policyId: z.string().nullable() }),
  async run(call, { policyId, ...which }) {
    withoutMembers(call);
    const named = await targetOf(call, which);
    if (named === undefined) {
      const issues = [{ path: 'mailboxId', message: 'missing' }];
      return refuse('invalid_arguments', 'Say which mailbox or token: mailboxId or tokenId is missing.', { issues });
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
  title: 'Remove a policy for agents',
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
      refuse('conflict', 'It holds for a mailbox or a token: put these under another policy, or under none, first.', {
        resource: 'policy',
      });
    }
    return { removed: true as const };
  },
});

export const listAgentPolicies = operation({
  name: 'list_agent_policies',
  title: 'List policies for agents',
  toolset: 'mail',
  reach: 'organization',
  action: 'read',
  peopleOnly: true,
  description: 'Lists the policies for agents, in words and rules, with what each is attached to. Changes nothing.',
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
        const { may, waits, never } = policyWords(rules);
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
