import { z } from 'zod';
import { AGENT_MODES } from '../../../mail/agents/gate/types.ts';
import type { EffectivePolicy } from '../../../mail/agents/policy/effective-policy.ts';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { agentStatus } from '../../agents/queries.ts';
import { callerPolicy } from '../../agents/caller-policy.ts';
import { publicId } from '../../core/ids.ts';
import { findOrganization } from '../../organizations/commands.ts';
import { deployGateOf } from '../../recovery/gate-queries.ts';
import { remainingBudget } from '../../sending/remaining-budget.ts';
import { version } from '../../core/version.ts';
import { type Call, operation } from '../../core/operation.ts';
import { Narrow, shownLimits } from '../organization/tokens.ts';
import { notFound } from '../../core/refusal.ts';
import { isoOf, isoOrNull, Organization } from '../../core/schemas.ts';

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
  /** The agent policy of the caller; null: none. */
  policy: z
    .object({ name: z.string(), sends: z.string(), holdAfterReading: z.boolean(), rulesWait: z.boolean() })
    .nullable(),
  /** Agent state; null for people. Tainted: its mail is held, where a person can approve it. */
  agent: z
    .object({ mode: z.enum(AGENT_MODES), attended: z.boolean(), exposed: z.boolean(), sentToday: z.number() })
    .nullable(),
  /** Remaining send budgets; null: no limits, or no token. */
  limits: z.object({ sendsLeftToday: z.number().nullable(), newRecipientsLeftToday: z.number().nullable() }).nullable(),
  claimed: z.boolean(),
  /** Deploy gate of the organization. */
  gate: z.enum(['open', 'closed']),
  operator: z.boolean(),
  serverVersion: z.string(),
};

/** Returns the identity of the caller, for whoami and bootstrap. */
export async function identify(call: Call): Promise<z.input<z.ZodObject<typeof Identity>>> {
  const { store, caller, tenant } = call;
  const organization = (await store.read(findOrganization, { id: tenant })) ?? notFound('organization');
  const gate = await store.read(deployGateOf, { organization: tenant });
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
  const status = await store.read(agentStatus, { id: caller.token.id, now: clock() });
  if (status === undefined) return null;
  const { tainted: exposed, ...facts } = status;
  return { ...facts, exposed };
}

/** Includes the limits of the mailbox for a token of one mailbox: either may be reached first. */
async function limitsShown(call: Call): Promise<z.input<typeof Identity.limits>> {
  const { caller, tenant } = call;
  if (caller.token === undefined) return null;
  const [account = null, ...others] = caller.mailboxes ?? [];
  const left = await remainingBudget(call, {
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
  title: 'Identify the caller',
  toolset: 'core',
  core: true,
  reach: 'any',
  action: 'identity',
  description:
    'Returns the organization and token of the caller, what the token may do, and when it expires. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object(Identity),
  run: (call) => identify(call),
});
