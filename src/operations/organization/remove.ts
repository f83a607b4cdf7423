import { z } from 'zod';
import { OPERATOR } from '../../../mail/store/account.ts';
import { publicId, rowId } from '../../ids.ts';
import { findOrganization, freezeOrganization } from '../../organizations/commands.ts';
import { removeOrganization } from '../../organizations/removal-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { listServices } from '../../services/queries.ts';
import { noMailbox } from '../about.ts';
import { type Call, operation } from '../operation.ts';
import { notFound, refuse } from '../refusal.ts';
import { Id, Line } from '../schemas.ts';

export const removeWholeOrganization = operation({
  name: 'remove_organization',
  title: 'Remove an organization',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  operatorOnly: true,
  description:
    'For the operator: removes an organization with everything that it has, all stored mail included; there is no undo. confirm must be its slug. Its audit log stays.',
  hints: { destructive: true },
  rule: noMailbox,
  input: z.strictObject({ targetOrganizationId: Id('organization'), confirm: Line(1, 100) }),
  output: z.object({ removed: z.literal(true), organizationId: z.string() }),
  async run(call, { targetOrganizationId, confirm }) {
    const id = rowId('organization', targetOrganizationId) ?? notFound('organization');
    const organization = (await call.store.read(findOrganization, { id })) ?? notFound('organization');
    if (id === OPERATOR) refuse('conflict', "The operator's own organization cannot be removed.");
    if (confirm !== organization.slug) {
      refuse('invalid_arguments', `confirm must be the slug of the organization, ${organization.slug}.`, {
        issues: [{ path: 'confirm', message: 'is another slug' }],
      });
    }
    // Frozen first: nothing is added while it goes away in slices, and a start that finds half of it finds it stopped.
    const detail = { name: organization.name, slug: organization.slug };
    const frozen = await call.change(freezeOrganization, { id, frozen: true }, targetOrganizationId, detail);
    if (frozen.kind === 'missing') return notFound('organization');
    for (const account of frozen.accounts) call.revoked(account);
    await stopServices(call, id);
    await removeInSlices(call, id);
    return { removed: true as const, organizationId: publicId('organization', id) };
  },
});

async function stopServices(call: Call, organization: number): Promise<void> {
  for (const { id } of await call.store.read(listServices, { organization })) await call.runner.remove(id);
}

async function removeInSlices(call: Call, id: number): Promise<void> {
  const services = (await call.store.read(listServices, { organization: id })).map((one) => one.id);
  const target = publicId('organization', id);
  for (;;) {
    const done = await call.change(removeOrganization, { id }, target);
    if (done.kind === 'missing') return notFound('organization');
    if (done.kind === 'removed') break;
  }
  await rewriteEnvFiles(call, services);
}
