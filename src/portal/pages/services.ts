import type { listServicesOf, makeService } from '../../operations/services/services.ts';
import type { listProjects } from '../../operations/organization/projects.ts';
import { field, select } from '../forms.ts';
import { html, type Part } from '../html.ts';
import { acting, filledFor, type Page, sheet, type State } from '../page.ts';
import { cursorOf, day, empty, head, nextPage, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';

type Service = Answer<typeof listServicesOf>['services'][number];

export const services: Page = {
  path: '/services',
  name: 'Services',
  menu: 'Programs',
  needs: 'list_services',
  done: { deleted: 'The service is deleted.' },
  acts: {
    create: acting(
      'create_service',
      (fields) => ({ name: fields.line('name') ?? '', projectId: fields.line('projectId') }),
      (result, visit) => {
        const { service } = result as Answer<typeof makeService>;
        return { kind: 'done', said: 'created', to: `${visit.base}/services/${service.id}` };
      },
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await read<typeof listServicesOf>(visit, 'list_services', page);
    const all = listed?.services ?? [];
    return html`${head('Services', 'Apps on this box that are given an environment: EMAIL_* variables, and your own.')}
    ${all.length === 0 ? NONE : serviceTable(visit, all)} ${nextPage(`${visit.base}/services`, listed?.nextCursor)}
    ${can(visit, 'create_service') && (await createForm(visit, state))}`;
  },
};

const NONE = empty(
  'No service yet',
  'Create one for each app, then attach a mailbox to it on the page of the mailbox.',
);

export function serviceTable({ base }: Visit, all: readonly Service[]): Part {
  return table(
    'Services',
    ['Name', 'Revision', 'Run by', 'Since'],
    all.map(({ id, name, revision, control, createdAt }) => [
      html`<a href="${base}/services/${id}">${name}</a>`,
      revision === 0 ? tag('nothing deployed') : revision,
      CONTROLS[control],
      day(createdAt),
    ]),
  );
}

export const CONTROLS = {
  none: 'itself',
  command: 'this server',
  systemd: 'systemd',
  compose: 'docker compose',
} as const;

async function createForm(visit: Visit, state: State): Promise<Part> {
  const filled = filledFor(state, 'create');
  const projects = (await read<typeof listProjects>(visit, 'list_projects', { limit: 100 }))?.projects ?? [];
  const choices = projects.map(({ id, name }) => ({ value: id, label: name }));
  const body = html`${field({ name: 'name', label: 'Name', placeholder: 'shop' }, filled)}
  ${choices.length > 1 && select({ name: 'projectId', label: 'Project', choices }, filled)}`;
  return html`<section>
    <h2>Create a service</h2>
    ${sheet(visit, 'create', 'Create it', body)}
  </section>`;
}
