import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { findOrganization, renameOrganization } from '../../organizations/commands.ts';
import { operation } from '../operation.ts';
import { notFound } from '../refusal.ts';
import { Id, isoOf, isoOrNull, Line, Organization } from '../schemas.ts';

const Whole = Organization.extend({
  origin: z.enum(['operator', 'claim', 'own']),
  claimed: z.boolean(),
  claimedAt: z.string().nullable(),
  createdAt: z.string(),
  confirmForwards: z.boolean(),
});

export const getOrganization = operation({
  name: 'get_organization',
  title: 'Get the organization',
  toolset: 'org',
  reach: 'any',
  action: 'read',
  description:
    'Shows this organization: name, slug, how it came to be, and whether a human has claimed it. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: Id('organization').optional() }),
  output: z.object({ organization: Whole }),
  async run({ store, tenant }) {
    const found = (await store.read(findOrganization, { id: tenant })) ?? notFound('organization');
    const { slug, name, origin, claimedAt, createdAt, confirmForwards } = found;
    return {
      organization: {
        id: publicId('organization', tenant),
        slug,
        name,
        origin,
        claimed: claimedAt !== null,
        claimedAt: isoOrNull(claimedAt),
        createdAt: isoOf(createdAt),
        confirmForwards,
      },
    };
  },
});

export const updateOrganization = operation({
  name: 'update_organization',
  title: 'Rename the organization',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description: 'Changes the display name of this organization. Its slug stays as it is.',
  hints: { idempotent: true },
  input: z.strictObject({ organizationId: Id('organization').optional(), name: Line(1, 80) }),
  output: z.object({ organization: Organization }),
  async run(call, { name }) {
    const { tenant: id, store } = call;
    const done = await call.change(renameOrganization, { id, name }, publicId('organization', id), { name });
    const found = await store.read(findOrganization, { id });
    if (done.kind === 'missing' || found === undefined) return notFound('organization');
    return { organization: { id: publicId('organization', id), slug: found.slug, name: found.name } };
  },
});
