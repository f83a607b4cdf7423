import { z } from 'zod';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { freezeOrganization, listOrganizationUse } from '../../organizations/commands.ts';
import { REMOVAL_BEGUN } from '../../organizations/deletion-commands.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, isoOrNull, nextCursor, Page, pageOf } from '../../core/schemas.ts';

export const listOrganizations = operation({
  name: 'list_organizations',
  title: 'List all organizations',
  toolset: 'org',
  reach: 'organization',
  action: 'read',
  operatorOnly: true,
  description: 'For the operator: every organization of this server with age, size and last use. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ ...Page }),
  output: z.object({
    organizations: z.array(
      z.object({
        id: z.string(),
        slug: z.string(),
        name: z.string(),
        origin: z.string(),
        claimed: z.boolean(),
        frozen: z.boolean(),
        restorableUntil: z.string().nullable().describe('Deleted: time until restore_organization brings it back'),
        createdAt: z.string(),
        lastUsedAt: z.string().nullable(),
        domains: z.number(),
        mailboxes: z.number(),
        usedBytes: z.number(),
      }),
    ),
    nextCursor,
  }),
  async run({ store }, page) {
    const { rows, nextCursor: next } = pageOf(await store.read(listOrganizationUse, undefined), page);
    return {
      organizations: rows.map((one) => ({
        id: publicId('organization', one.id),
        slug: one.slug,
        name: one.name,
        origin: one.origin,
        claimed: one.claimedAt !== null,
        frozen: one.frozenAt !== null,
        restorableUntil: isoOrNull(one.purgeAt === REMOVAL_BEGUN ? null : one.purgeAt),
        createdAt: isoOf(one.createdAt),
        lastUsedAt: isoOrNull(one.lastUsedAt),
        domains: one.domains,
        mailboxes: one.mailboxes,
        usedBytes: one.usedBytes,
      })),
      nextCursor: next,
    };
  },
});

const freezing = (name: string, title: string, frozen: boolean, description: string) =>
  operation({
    name,
    title,
    toolset: 'org',
    reach: 'organization',
    action: 'manage',
    operatorOnly: true,
    description,
    hints: { idempotent: true, destructive: frozen },
    rule: noMailboxes,
    input: z.strictObject({ targetOrganizationId: Id('organization') }),
    output: z.object({ organizationId: z.string(), frozen: z.boolean() }),
    async run(call, { targetOrganizationId }) {
      const id = rowId('organization', targetOrganizationId) ?? notFound('organization');
      if (id === OPERATOR) refuse('conflict', "The operator's own organization cannot be frozen.");
      const done = await call.change(freezeOrganization, { id, frozen }, targetOrganizationId);
      if (done.kind === 'missing') return notFound('organization');
      if (done.kind === 'deleted')
        return refuse('conflict', 'The organization is deleted: restore it first (restore_organization).', {
          resource: 'organization',
        });
      for (const account of done.accounts) call.revoked(account);
      call.queueChanged();
      return { organizationId: targetOrganizationId, frozen };
    },
  });

export const freeze = freezing(
  'freeze_organization',
  'Freeze an organization',
  true,
  'For the operator: stops an organization at once. Its tokens, sign-ins and mail logins are refused until unfreeze_organization; mail for it is still accepted.',
);
export const unfreeze = freezing(
  'unfreeze_organization',
  'Unfreeze an organization',
  false,
  'For the operator: lets a frozen organization work again.',
);
