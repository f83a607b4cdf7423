import { z } from 'zod';
import { publicId, rowId } from '../../core/ids.ts';
import {
  findOrganization,
  renameOrganization,
  freezeOrganization,
  listProjects as readProjects,
  type Project,
  organizationUse,
} from '../../organizations/commands.ts';
import { operation, type Call } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import {
  isoOf,
  isoOrNull,
  Line,
  Organization,
  OwnOrganization,
  Id,
  nextCursor,
  Page,
  pageOf,
} from '../../core/schemas.ts';
import { OPERATOR } from '../../../mail/store/account/account.ts';
import { heldAddress } from '../../../mail/store/retention/rules.ts';
import { removeOrganization } from '../../organizations/removal-commands.ts';
import { rewriteEnvFiles } from '../../services/env-file.ts';
import { listServices } from '../../services/queries.ts';
import { noMailboxes } from '../affected-mailboxes.ts';
import { createProject } from '../../services/commands.ts';
import { allowedProjects } from '../scope.ts';

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
  description: 'Returns this organization: name, slug, origin, and whether a human has claimed it. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ organizationId: OwnOrganization }),
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
  description: 'Changes the display name of this organization. The slug stays.',
  hints: { idempotent: true },
  input: z.strictObject({ organizationId: OwnOrganization, name: Line(1, 80).describe('Display name') }),
  output: z.object({ organization: Organization }),
  async run(call, { name }) {
    const { tenant: id, store } = call;
    const done = await call.change(renameOrganization, { id, name }, publicId('organization', id), { name });
    const found = await store.read(findOrganization, { id });
    if (done.kind === 'missing' || found === undefined) return notFound('organization');
    return { organization: { id: publicId('organization', id), slug: found.slug, name: found.name } };
  },
});

export const getUsage = operation({
  name: 'get_usage',
  title: 'Get usage',
  toolset: 'billing',
  reach: 'organization',
  action: 'read',
  description:
    'Counts the domains, mailboxes, stored messages and bytes, services and queued mail of this organization. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({}),
  output: z.object({
    domains: z.number(),
    mailboxes: z.number(),
    messages: z.number(),
    storedBytes: z.number(),
    services: z.number(),
    queued: z.number(),
  }),
  run: (call) => call.store.read(organizationUse, { organization: call.tenant }),
});

export const removeWholeOrganization = operation({
  name: 'remove_organization',
  title: 'Remove an organization',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  operatorOnly: true,
  description:
    'For the operator: removes an organization with everything in it, all stored mail included; no undo. Its audit log stays.',
  hints: { destructive: true },
  rule: noMailboxes,
  input: z.strictObject({
    targetOrganizationId: Id('organization'),
    confirm: Line(1, 100).describe('Must be its slug'),
  }),
  output: z.object({ removed: z.literal(true), organizationId: z.string() }),
  async run(call, { targetOrganizationId, confirm }) {
    const id = rowId('organization', targetOrganizationId) ?? notFound('organization');
    const organization = (await call.store.read(findOrganization, { id })) ?? notFound('organization');
    if (id === OPERATOR) refuse('conflict', "The operator's own organization cannot be removed.");
    if (confirm !== organization.slug) {
      refuse('invalid_arguments', `confirm must be the slug of the organization, ${organization.slug}.`, {
        issues: [{ path: 'confirm', message: 'is a different slug' }],
      });
    }
    const held = await call.store.read(heldAddress, { tenant: id });
    if (held !== undefined) return refuseHeld(held);
    // Frozen first: nothing is added while it is deleted in slices, and after a crash it stays stopped.
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

function refuseHeld(address: string): never {
  return refuse(
    'conflict',
    `${address} is under legal hold, so nothing of its organization is removed. Lift the hold first (set_legal_hold).`,
    { resource: 'mailbox' },
  );
}

async function removeInSlices(call: Call, id: number): Promise<void> {
  const services = (await call.store.read(listServices, { organization: id })).map((one) => one.id);
  const target = publicId('organization', id);
  for (;;) {
    const done = await call.change(removeOrganization, { id }, target);
    if (done.kind === 'missing') return notFound('organization');
    if (done.kind === 'held') return refuseHeld(done.address);
    if (done.kind === 'removed') break;
  }
  await rewriteEnvFiles(call, services);
}

const Shown = z.object({ id: z.string(), name: z.string(), createdAt: z.string() });

export const listProjects = operation({
  name: 'list_projects',
  title: 'List projects',
  toolset: 'org',
  reach: 'any',
  action: 'read',
  description: 'Lists the projects of this organization; the first is the default projectId. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject(Page),
  output: z.object({ projects: z.array(Shown), nextCursor }),
  async run(call, page) {
    const all = await call.store.read(readProjects, { organization: call.tenant });
    const allowed = await allowedProjects(call);
    const { rows, nextCursor: next } = pageOf(
      all.filter((one) => allowed?.includes(one.id) ?? true),
      page,
    );
    return { projects: rows.map(shown), nextCursor: next };
  },
});

export const makeProject = operation({
  name: 'create_project',
  title: 'Create a project',
  toolset: 'org',
  reach: 'organization',
  action: 'manage',
  description: 'Creates a project: a group of domains, mailboxes, keys and services, to which tokens can be limited.',
  hints: {},
  input: z.strictObject({ name: Line(1, 80).describe('Name of the project') }),
  output: z.object({ project: Shown }),
  async run(call, { name }) {
    const done = await call.change(createProject, { organization: call.tenant, name }, name);
    switch (done.kind) {
      case 'created':
        return { project: shown({ id: done.id, name, createdAt: call.clock() }) };
      case 'exists':
        return refuse('already_exists', `A project named ${name} already exists: list_projects shows its id.`, {
          resource: 'project',
        });
      case 'too-many':
        return refuse('conflict', 'Limit of projects reached.', { resource: 'project' });
    }
  },
});

function shown({ id, name, createdAt }: Pick<Project, 'id' | 'name' | 'createdAt'>): z.output<typeof Shown> {
  return { id: publicId('project', id), name, createdAt: isoOf(createdAt) };
}
