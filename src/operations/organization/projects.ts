import { z } from 'zod';
import { publicId } from '../../ids.ts';
import { listProjects as readProjects, type Project } from '../../organizations/commands.ts';
import { createProject } from '../../services/commands.ts';
import { operation } from '../operation.ts';
import { refuse } from '../refusal.ts';
import { isoOf, Line, nextCursor, Page, pageOf } from '../schemas.ts';
import { allowedProjects } from '../scope.ts';

const Shown = z.object({ id: z.string(), name: z.string(), createdAt: z.string() });

export const listProjects = operation({
  name: 'list_projects',
  title: 'List projects',
  toolset: 'org',
  reach: 'any',
  action: 'read',
  description:
    'Lists the projects of this organization; the first is taken where no projectId is given. Changes nothing.',
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
  input: z.strictObject({ name: Line(1, 80) }),
  output: z.object({ project: Shown }),
  async run(call, { name }) {
    const done = await call.change(createProject, { organization: call.tenant, name }, name);
    switch (done.kind) {
      case 'created':
        return { project: shown({ id: done.id, name, createdAt: call.clock() }) };
      case 'exists':
        return refuse('already_exists', `There is a project ${name}: list_projects has its id.`, {
          resource: 'project',
        });
      case 'too-many':
        return refuse('conflict', 'This organization has as many projects as it may have.', { resource: 'project' });
    }
  },
});

function shown({ id, name, createdAt }: Pick<Project, 'id' | 'name' | 'createdAt'>): z.output<typeof Shown> {
  return { id: publicId('project', id), name, createdAt: isoOf(createdAt) };
}
