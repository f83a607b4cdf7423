import { z } from 'zod';
import { OPERATOR } from '../../../mail/store/account.ts';
import { publicId } from '../../ids.ts';
import { findOrganization } from '../../organizations/commands.ts';
import { gateOf } from '../../recovery/gate-queries.ts';
import { version } from '../../version.ts';
import { type Call, operation } from '../operation.ts';
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
  }),
  session: z.object({ id: z.string(), expiresAt: z.string() }).nullable(),
  claimed: z.boolean(),
  /** Whether the organization may deploy. */
  gate: z.enum(['open', 'closed']),
  operator: z.boolean(),
  serverVersion: z.string(),
};

/** Who the caller is, for whoami and bootstrap. */
export async function identify({ store, caller, tenant }: Call): Promise<z.input<z.ZodObject<typeof Identity>>> {
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
    },
    session: session === undefined ? null : { id: session.shown, expiresAt: isoOf(session.expiresAt) },
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
