import { z } from 'zod';
import { publicId } from '../../core/ids.ts';
import { createService } from '../../services/commands.ts';
import { listServices } from '../../services/queries.ts';
import { operation } from '../../core/operation.ts';
import { refuse } from '../../core/refusal.ts';
import { Line, nextCursor, Page, pageOf, InProject, OfProject } from '../../core/schemas.ts';
import { projectOf } from '../scope.ts';
import { ShownService, shownService } from './shown.ts';

export const listServicesOf = operation({
  name: 'list_services',
  title: 'List services',
  toolset: 'deploy',
  reach: 'service',
  action: 'read',
  description:
    'Lists the services of this organization: apps on this server with a managed environment. Changes nothing.',
  hints: { readOnly: true, idempotent: true },
  input: z.strictObject({ projectId: OfProject, ...Page }),
  output: z.object({ services: z.array(ShownService), nextCursor }),
  async run(call, { projectId, ...page }) {
    const project = projectId === undefined ? call.caller.project : (await projectOf(call, projectId)).id;
    const { service } = call.caller;
    const all = await call.store.read(listServices, { organization: call.tenant });
    const mine = all.filter(
      (one) => (project === null || one.project === project) && (service === null || one.id === service),
    );
    const { rows, nextCursor: next } = pageOf(mine, page);
    return { services: rows.map(shownService), nextCursor: next };
  },
});

export const makeService = operation({
  name: 'create_service',
  title: 'Create a service',
  toolset: 'deploy',
  reach: 'project',
  action: 'manage',
  description:
    'Registers an app on this server, so that it can be deployed and get the EMAIL_* variables of mailboxes. Runs nothing: the operator sets how it runs.',
  hints: {},
  input: z.strictObject({ projectId: InProject, name: Line(1, 80).describe('Name of the service') }),
  output: z.object({ service: ShownService }),
  async run(call, { projectId, name }) {
    const project = await projectOf(call, projectId);
    const row = { organization: call.tenant, project: project.id, name };
    const done = await call.change(createService, row, name, { project: publicId('project', project.id) });
    switch (done.kind) {
      case 'created':
        return {
          service: shownService({
            ...row,
            id: done.id,
            control: '{"kind":"none"}',
            revision: 0,
            createdAt: call.clock(),
          }),
        };
      case 'exists':
        return refuse(
          'already_exists',
          `A service named ${name} already exists in this project: list_services shows its id.`,
          {
            resource: 'service',
          },
        );
      case 'too-many':
        return refuse(
          'conflict',
          'Limit of services reached: delete some permanently, deleted ones count on their own.',
          { resource: 'service' },
        );
    }
  },
});
