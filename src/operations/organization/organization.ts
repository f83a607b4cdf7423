import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import {
  findOrganization,
  renameOrganization,
  listProjects as readProjects,
  type Project,
  organizationUse,
} from '../../organizations/commands.ts';
import { operation } from '../../core/operation.ts';
import { notFound, refuse } from '../../core/refusal.ts';
import { isoOf, isoOrNull, Line, Organization, OwnOrganization, nextCursor, Page, pageOf } from '../../core/schemas.ts';
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
