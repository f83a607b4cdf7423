import { z } from 'zod';
import { effectiveAgentPolicy, type EffectivePolicy, readPolicy } from '../../../mail/delivery/agent/policy.ts';
import { presetOf } from '../../../mail/delivery/agent/presets.ts';
import { agentPoliciesOf } from '../../../mail/store/agent-policy.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { isAttended } from '../../agents/queries.ts';
import { policyWords } from '../../agents/policy-words.ts';
import { publicId } from '../../ids.ts';
import { findOrganization } from '../../organizations/commands.ts';
import { type Call, operation } from '../operation.ts';
import { Id } from '../schemas.ts';
import { mailboxOf, outOfScope } from '../scope.ts';
import { mailboxWords } from './mailbox-words.ts';
import { isLimited, policyIn, Target, tokenIn } from './target.ts';

const Named = z.object({ policyId: z.string(), name: z.string(), preset: z.string() });

/** Rules on the wire. */
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
  title: 'What an agent may do',
  toolset: 'mail',
  reach: 'thread',
  action: 'mail_read',
  orAction: 'send',
  description:
    'Explains what holds for you, or for a mailbox, a token or one policy: what an agent may do, what waits for a person, what is never possible. Changes nothing.',
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
  async run(call, asked) {
    const { policy, chosen } = await meant(call, asked);
    const attended = await isAttendedHere(call);
    const own = policyWords(policy, { attended });
    const nothingNamed = Object.values(asked).every((one) => one === undefined);
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

/** One that may only read mail, or send it, is told of what concerns itself. */
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
