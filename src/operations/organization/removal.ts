import { z } from 'zod';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { publicId, rowId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { Id, isoOf, Line } from '../../core/schemas.ts';
import { findOrganization, type Organization } from '../../organizations/commands.ts';
import { deleteOrganization, restoreOrganization } from '../../organizations/deletion-commands.ts';
import { removeOrganization } from '../../organizations/removal-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { listServices } from '../../services/queries.ts';
import { noMailboxes } from '../affected-mailboxes.ts';

export const removeWholeOrganization = operation({
  name: 'remove_organization',
  title: 'Remove an organization',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  operatorOnly: true,
  description:
    'For the operator: removes an organization with everything in it; restore_organization brings it back for 30 days. Its mail is kept and still accepted, its logins, tokens and services end. permanently removes all at once, without undo. Its audit log stays. Refused while one of its mailboxes is under legal hold.',
  hints: { destructive: true },
  rule: noMailboxes,
  input: z.strictObject({
    targetOrganizationId: Id('organization'),
    confirm: Line(1, 100).describe('Must be its slug'),
    permanently: z.boolean().default(false).describe('No restore; also for a removed organization'),
  }),
  output: z.object({
    removed: z.literal(true),
    organizationId: z.string(),
    restorableUntil: z.string().nullable(),
  }),
  async run(call, { targetOrganizationId, confirm, permanently }) {
    const organization = await otherOrganization(call, targetOrganizationId);
    const { id, slug } = organization;
    if (confirm !== slug) {
      refuse('invalid_arguments', `confirm must be the slug of the organization, ${slug}.`, {
        issues: [{ path: 'confirm', message: 'is a different slug' }],
      });
    }
    const purgeAt = permanently ? await removeAtOnce(call, organization) : await removeForNow(call, organization);
    return {
      removed: true as const,
      organizationId: publicId('organization', id),
      restorableUntil: purgeAt === null ? null : isoOf(purgeAt),
    };
  },
});

export const restoreRemovedOrganization = operation({
  name: 'restore_organization',
  title: 'Restore an organization',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  operatorOnly: true,
  description:
    'For the operator: brings a removed organization back with its mail, domains, people, tokens and services. One that was frozen before stays frozen. Messages that were scheduled or queued are sent.',
  hints: {},
  rule: noMailboxes,
  input: z.strictObject({ targetOrganizationId: Id('organization') }),
  output: z.object({ restored: z.literal(true), organizationId: z.string(), frozen: z.boolean() }),
  async run(call, { targetOrganizationId }) {
    const { id, name, slug } = await otherOrganization(call, targetOrganizationId);
    const done = await call.change(restoreOrganization, { id }, targetOrganizationId, { name, slug });
    if (done.kind === 'missing') return notFound('removed organization');
    const services = await call.store.read(listServices, { organization: id });
    await rewriteEnvFiles(
      call,
      services.map((one) => one.id),
    );
    for (const service of services) if (service.revision > 0) await call.runner.apply(service);
    call.queueChanged();
    return { restored: true as const, organizationId: targetOrganizationId, frozen: done.frozen };
  },
});

/** An organization of this server other than the operator's. */
async function otherOrganization(call: Call, target: string): Promise<Organization> {
  const id = rowId('organization', target) ?? notFound('organization');
  if (id === OPERATOR) refuse('conflict', "The operator's own organization cannot be removed.");
  return (await call.store.read(findOrganization, { id })) ?? notFound('organization');
}

async function removeForNow(call: Call, { id, name, slug }: Organization): Promise<number> {
  const done = await call.change(deleteOrganization, { id }, publicId('organization', id), { name, slug });
  if (done.kind === 'missing') return notFound('organization');
  if (done.kind === 'held') return refuseHeld(done.address);
  for (const account of done.accounts) call.revoked(account);
  await stopServices(call, id);
  return done.purgeAt;
}

async function removeAtOnce(call: Call, { id, name, slug }: Organization): Promise<null> {
  const target = publicId('organization', id);
  // Frozen first: nothing is added while it is removed in slices.
  const detail = { name, slug, permanently: true };
  const deleted = await call.change(deleteOrganization, { id, permanently: true }, target, detail);
  if (deleted.kind === 'held') return refuseHeld(deleted.address);
  if (deleted.kind === 'missing') return notFound('organization');
  for (const account of deleted.accounts) call.revoked(account);
  await stopServices(call, id);
  const services = (await call.store.read(listServices, { organization: id })).map((one) => one.id);
  for (;;) {
    const done = await call.change(removeOrganization, { id }, target);
    if (done.kind === 'missing') return notFound('organization');
    if (done.kind === 'held') return refuseHeld(done.address);
    if (done.kind === 'removed') break;
  }
  await rewriteEnvFiles(call, services);
  return null;
}

async function stopServices(call: Call, organization: number): Promise<void> {
  for (const { id } of await call.store.read(listServices, { organization })) await call.runner.remove(id);
}

function refuseHeld(address: string): never {
  return refuse(
    'conflict',
    `${address} is under legal hold, so nothing of its organization is removed. Lift the hold first (set_legal_hold).`,
    { resource: 'mailbox' },
  );
}
