import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { type Call, operation } from '../../core/operation.ts';
import { notFound, refuse, RefusedError } from '../../core/refusal.ts';
import { Id, isoOf, nextCursor, OfProject, Page, pageOf } from '../../core/schemas.ts';
import {
  type DeletedServiceLine,
  deletedServicesOf,
  deleteService,
  purgeService,
  restoreService,
} from '../../services/deletion-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { deletedServiceOf, projectOf, serviceOf } from '../scope.ts';
import { ShownService, shownService } from './shown.ts';

type Target = { id: number; name: string; deleted: boolean };

export const removeService = operation({
  name: 'delete_service',
  title: 'Delete a service',
  toolset: 'deploy',
  reach: 'project',
  action: 'manage',
  description:
    'Deletes a service with its revisions, environment file, log and tokens, and stops its supervised program; restore_service brings it back for 30 days. permanently purges at once: people only, a token proposes it. Attached mailboxes stay.',
  hints: { destructive: true, idempotent: true },
  irreversible: async (call, { serviceId, permanently }) => {
    if (permanently) await targetOf(call, serviceId, permanently);
    return permanently;
  },
  input: z.strictObject({
    serviceId: Id('service'),
    permanently: z.boolean().default(false).describe('No restore; also for a deleted service'),
  }),
  output: z.object({
    deleted: z.literal(true),
    serviceId: z.string(),
    restorableUntil: z.string().nullable(),
    revokedTokens: z.number(),
  }),
  async run(call, { serviceId, permanently }) {
    const target = await targetOf(call, serviceId, permanently);
    const { purgeAt, revokedTokens } = target.deleted ? NOTHING_MORE : await retire(call, target);
    if (permanently) await purge(call, target);
    return {
      deleted: true as const,
      serviceId,
      restorableUntil: permanently ? null : isoOf(purgeAt),
      revokedTokens,
    };
  },
});

/** For a service that was deleted before. */
const NOTHING_MORE = { purgeAt: 0, revokedTokens: 0 };

/** Finds a service in use, or also a deleted one. */
async function targetOf(call: Call, serviceId: string, alsoDeleted: boolean): Promise<Target> {
  try {
    return { ...(await serviceOf(call, serviceId)), deleted: false };
  } catch (error) {
    const isMissing = error instanceof RefusedError && error.refusal.error === 'not_found';
    if (!isMissing || !alsoDeleted) throw error;
    return { ...(await deletedServiceOf(call, serviceId)), deleted: true };
  }
}

async function retire(call: Call, { id, name }: Target) {
  const input = { organization: call.tenant, id, by: call.caller.actor };
  const done = await call.change(deleteService, input, publicId('service', id), { name });
  if (done.kind === 'missing') return notFound('service');
  await call.runner.remove(id);
  await rewriteEnvFiles(call, [id]);
  return done;
}

async function purge(call: Call, { id, name }: Target): Promise<void> {
  const input = { organization: call.tenant, id };
  const detail = { name, permanently: true };
  let kind = 'purging';
  while (kind === 'purging') ({ kind } = await call.change(purgeService, input, publicId('service', id), detail));
  if (kind === 'missing') notFound('service');
}

const DeletedService = z.object({
  id: z.string(),
  name: z.string(),
  projectId: z.string(),
  revision: z.number(),
  deletedAt: z.string(),
  deletedBy: z.string(),
  restorableUntil: z.string(),
});

export const listDeletedServices = operation({
  name: 'list_deleted_services',
  title: 'List deleted services',
  toolset: 'deploy',
  reach: 'project',
  action: 'read',
  description:
    'Lists deleted services that restore_service can bring back, with the time at which each is purged. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ projectId: OfProject, ...Page }),
  output: z.object({ deletedServices: z.array(DeletedService), nextCursor }),
  async run(call, { projectId, ...page }) {
    const project = projectId === undefined ? call.caller.project : (await projectOf(call, projectId)).id;
    const all = await call.store.read(deletedServicesOf, { organization: call.tenant, id: null });
    const mine = all.filter((one) => project === null || one.project === project);
    const { rows, nextCursor: next } = pageOf(mine, page);
    return { deletedServices: rows.map(shown), nextCursor: next };
  },
});

function shown(line: DeletedServiceLine): z.output<typeof DeletedService> {
  return {
    id: publicId('service', line.id),
    name: line.name,
    projectId: publicId('project', line.project),
    revision: line.revision,
    deletedAt: isoOf(line.deletedAt),
    deletedBy: line.deletedBy,
    restorableUntil: isoOf(line.purgeAt),
  };
}

export const restoreServiceOf = operation({
  name: 'restore_service',
  title: 'Restore a service',
  toolset: 'deploy',
  reach: 'project',
  action: 'manage',
  description:
    'Restores a deleted service with its revisions and attached mailboxes, writes its environment file with their present passwords, and starts its supervised program. Its tokens stay revoked; its log is empty.',
  hints: {},
  // It gets the passwords of its mailboxes again.
  rule: async (call, { serviceId }) => attachedAccounts(await deletedServiceOf(call, serviceId)),
  input: z.strictObject({ serviceId: Id('service') }),
  output: z.object({ service: ShownService, detail: z.string(), notRestored: z.array(z.string()) }),
  async run(call, { serviceId }) {
    const { id, name } = await deletedServiceOf(call, serviceId);
    const done = await call.change(restoreService, { organization: call.tenant, id }, serviceId, { name });
    switch (done.kind) {
      case 'restored': {
        await rewriteEnvFiles(call, [id]);
        const { detail } =
          done.revision === 0
            ? { detail: 'not deployed yet' }
            : await call.runner.apply({ id, revision: done.revision });
        return { service: shownService(await serviceOf(call, serviceId)), detail, notRestored: done.lost };
      }
      case 'exists':
        return refuse('already_exists', `The project has another service named ${name}: delete that one first.`, {
          resource: 'service',
        });
      case 'too-many':
        return refuse('conflict', 'Limit of services reached: delete another one first.', { resource: 'service' });
      case 'missing':
        return notFound('deleted service');
    }
  },
});

function attachedAccounts({ attachments }: DeletedServiceLine): number[] {
  return (JSON.parse(attachments) as { account: number }[]).map(({ account }) => account);
}
