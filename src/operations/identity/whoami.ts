import { z } from 'zod';
import { AGENT_MODES } from '../../../mail/delivery/agent/types.ts';
import type { EffectivePolicy } from '../../../mail/delivery/agent/policy.ts';
import { OPERATOR } from '../../../mail/store/account.ts';
import { agentStanding } from '../../agents/queries.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicId } from '../../ids.ts';
import { findOrganization } from '../../organizations/commands.ts';
import { gateOf } from '../../recovery/gate-queries.ts';
import { leftFor } from '../../sending/left.ts';
import { version } from '../../version.ts';
import { type Call, operation } from '../operation.ts';
import { Narrow, shownLimits } from '../organization/tokens.ts';
import { notFound } from '../refusal.ts';
import { isoOf, isoOrNull, Organization } from '../schemas.ts';

export const Identity = {
  organization: Organization,
  principal: z.object({
    type: z.enum(['token', 'oauth', 'session', 'operator']),
    tokenId: z.string().nullable(),
    name: z.string(),
    prefix: z.string().nullable(),
    actions: z.array(z.string()),
    projectId: z.string().nullable(),
    serviceId: z.string().nullable(),
    mailboxIds: z.array(z.string()).nullable(),
    expiresAt: z.string().nullable(),
    owner: z.boolean(),
    narrow: Narrow.optional(),
  }),
  session: z.object({ id: z.string(), expiresAt: z.string() }).nullable(),
  /** The agent policy that it works under; null: nobody chose one. */
  policy: z
    .object({ name: z.string(), sends: z.string(), holdAfterReading: z.boolean(), rulesWait: z.boolean() })
    .nullable(),
  /** As what it works: null for people. What it reads of outsiders holds what it sends, where a person could let it go. */
  agent: z
    .object({ mode: z.enum(AGENT_MODES), attended: z.boolean(), exposed: z.boolean(), sentToday: z.number() })
    .nullable(),
  /** What it may still send; null: nothing limits it, or it is no token. */
  limits: z.object({ sendsLeftToday: z.number().nullable(), newRecipientsLeftToday: z.number().nullable() }).nullable(),
  claimed: z.boolean(),
  /** Whether the organization may deploy. */
  gate: z.enum(['open', 'closed']),
  operator: z.boolean(),
  serverVersion: z.string(),
};

/** Who the caller is, for whoami and bootstrap. */
export async function identify(call: Call): Promise<z.input<z.ZodObject<typeof Identity>>> {
  const { store, caller, tenant } = call;
  const organization = (await store.read(findOrganization, { id: tenant })) ?? notFound('organization');
  const gate = await store.read(gateOf, { organization: tenant });
  const { token, session } = caller;
  return {
    organization: {
      id: publicId('organization', organization.id),
      slug: organization.slug,
      name: organization.name,
    },
    principal: {
      type: typeOf(caller),
      tokenId: token === undefined ? null : publicId('token', token.id),
      name: caller.actorName,
      prefix: token?.shown ?? null,
      actions: [...caller.actions],
      projectId: caller.project === null ? null : publicId('project', caller.project),
      serviceId: caller.service === null ? null : publicId('service', caller.service),
      mailboxIds: caller.mailboxes?.map((id) => publicId('mailbox', id)) ?? null,
      expiresAt: isoOrNull(token?.expiresAt ?? null),
      owner: token?.owner ?? caller.user?.role === 'owner',
      ...(token?.narrow && { narrow: shownLimits(token.narrow) }),
    },
    session: session === undefined ? null : { id: session.shown, expiresAt: isoOf(session.expiresAt) },
    policy: policyShown(await callerPolicy(call)),
    agent: await agentShown(call),
    limits: await limitsShown(call),
    claimed: organization.claimedAt !== null,
    gate: gate.open ? 'open' : 'closed',
    operator: tenant === OPERATOR,
    serverVersion: version(),
  };
}

function typeOf({ kind, token }: Call['caller']): 'token' | 'oauth' | 'session' | 'operator' {
  if (kind === 'user') return 'session';
  if (kind !== 'token') return 'operator';
  return token?.oauth == null ? 'token' : 'oauth';
}

async function agentShown({ store, caller, clock }: Call): Promise<z.input<typeof Identity.agent>> {
  if (caller.token === undefined) return null;
  return (await store.read(agentStanding, { id: caller.token.id, now: clock() })) ?? null;
}

/** Of a token of one mailbox those of that mailbox too; else another may be the first to be used up. */
async function limitsShown(call: Call): Promise<z.input<typeof Identity.limits>> {
  const { caller, tenant } = call;
  if (caller.token === undefined) return null;
  const [account = null, ...others] = caller.mailboxes ?? [];
  const left = await leftFor(call, {
    organization: tenant,
    credential: caller.actor,
    account: others.length > 0 ? null : account,
    limits: caller.token.narrow,
  });
  if (left === null) return null;
  const counts = [left.messages, left.recipients].filter((one) => one !== null);
  return {
    sendsLeftToday: counts.length === 0 ? null : Math.min(...counts),
    newRecipientsLeftToday: left.newRecipients,
  };
}

function policyShown({ governed, chosen, policy }: EffectivePolicy): z.input<typeof Identity.policy> {
  if (!governed) return null;
  const { sends, holdAfterReading, rulesWait } = policy;
  return { name: chosen.map(({ name }) => name).join(', '), sends, holdAfterReading, rulesWait };
}

export const whoami = operation({
  name: 'whoami',
  title: 'Who am I',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'identity',
  description: 'Says which organization and token this is, what the token may do, and until when. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object(Identity),
  run: (call) => identify(call),
});
