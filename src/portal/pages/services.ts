import type { listServicesOf, makeService } from '../../operations/services/services.ts';
import type { listProjects } from '../../operations/organization/organization.ts';
import { field, select } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import {
  operationAction,
  formStateFor,
  type Page,
  actionForm,
  type PageState,
  type Params,
  actionButton,
  confirmedAction,
} from '../page.ts';
import {
  cursorOf,
  dateOnly,
  emptyState,
  pageHead,
  nextPage,
  table,
  tag,
  backLink,
  descriptionList,
  timestamp,
} from '../components.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { DELETED_SERVICE_ACTIONS, deletedServices } from './deleted.ts';
import type { listDeployments, readLogs } from '../../operations/services/history.ts';

type ServiceRow = OutputOf<typeof listServicesOf>['services'][number];

export const services: Page = {
  path: '/services',
  name: 'Services',
  menu: 'Programs',
  needs: 'list_services',
  notices: {
    deleted: 'Service deleted. You can restore it below for 30 days.',
    purged: 'Service deleted permanently.',
  },
  actions: {
    ...DELETED_SERVICE_ACTIONS,
    create: operationAction(
      'create_service',
      (result, visit) => {
        const { service } = result as OutputOf<typeof makeService>;
        return { kind: 'done', notice: 'created', to: `${visit.base}/services/${service.id}` };
      },
      (fields) => ({ name: fields.line('name') ?? '', projectId: fields.line('projectId') }),
    ),
  },
  async show(visit, state) {
    const page = cursorOf(state.query);
    const listed = await readOperation<typeof listServicesOf>(visit, 'list_services', page);
    const all = listed?.services ?? [];
    return html`${pageHead('Services', 'Apps on this server that receive EMAIL_* variables and your own variables.')}
    ${all.length === 0 ? NONE : serviceTable(visit, all)} ${nextPage(`${visit.base}/services`, listed?.nextCursor)}
    ${isAllowed(visit, 'create_service') && (await createForm(visit, state))} ${await deletedServices(visit)}`;
  },
};

const NONE = emptyState('No services', 'Create one for each app, then attach a mailbox on the page of the mailbox.');

export function serviceTable({ base }: Visit, all: readonly ServiceRow[]): HtmlPart {
  return table(
    'Services',
    ['Name', 'Revision', 'Run by', 'Created'],
    all.map(({ id, name, revision, control, createdAt }) => [
      html`<a href="${base}/services/${id}">${name}</a>`,
      revision === 0 ? tag('Not deployed') : revision,
      CONTROLS[control],
      dateOnly(createdAt),
    ]),
  );
}

export const CONTROLS = {
  none: 'External',
  command: 'This server',
  systemd: 'systemd',
  compose: 'Docker Compose',
} as const;

async function createForm(visit: Visit, state: PageState): Promise<HtmlPart> {
  const formState = formStateFor(state, 'create');
  const projects = (await readOperation<typeof listProjects>(visit, 'list_projects', { limit: 100 }))?.projects ?? [];
  const choices = projects.map(({ id, name }) => ({ value: id, label: name }));
  const body = html`${field({ name: 'name', label: 'Name', placeholder: 'shop' }, formState)}
  ${choices.length > 1 && select({ name: 'projectId', label: 'Project', choices }, formState)}`;
  return html`<section>
    <h2>Create a service</h2>
    ${actionForm(visit, 'create', 'Create service', body)}
  </section>`;
}

type Deployment = OutputOf<typeof listDeployments>['deployments'][number];

const which = (params: Params) => ({ serviceId: params['id'] });
const controlResult = (result: Record<string, unknown>, success: string) =>
  ({ kind: 'done', notice: result['state'] === 'failed' ? 'failed' : success }) as const;

export const service: Page = {
  path: '/services/:id',
  name: 'Service',
  menu: null,
  needs: 'list_services',
  notices: {
    created: 'Service created. Attach a mailbox on the page of the mailbox, or deploy with a token.',
    restarted: 'Service restarted.',
    rolled: 'Rolled back to the earlier revision.',
    failed: 'Service control failed. See the latest deployment below.',
  },
  actions: {
    restart: operationAction(
      'restart_service',
      (result) => controlResult(result, 'restarted'),
      (_fields, params) => which(params),
    ),
    rollback: operationAction(
      'rollback_service',
      (result) => controlResult(result, 'rolled'),
      (fields, params) => ({ ...which(params), revision: fields.text('revision') }),
    ),
    remove: operationAction(
      'delete_service',
      (_result, visit) => ({
        kind: 'done',
        notice: 'deleted',
        to: `${visit.base}/services`,
      }),
      (_fields, params) => which(params),
    ),
  },
  async show(visit, { params }) {
    const listed = await readOperation<typeof listServicesOf>(visit, 'list_services', { limit: 100 });
    const found = listed?.services.find((one) => one.id === params['id']);
    if (found === undefined) return undefined;
    const restart =
      isAllowed(visit, 'restart_service') && found.revision > 0 && actionButton(visit, 'restart', 'Restart', {}, '');
    return html`${backLink(`${visit.base}/services`, 'Services')} ${pageHead(found.name, undefined, restart)}
    ${descriptionList([
      ['Revision', found.revision === 0 ? 'Not deployed' : found.revision],
      ['Run by', CONTROLS[found.control]],
      ['Environment', html`<code>${visit.context.baseUrl()}/api/services/${found.id}/env</code>`],
    ])}
    ${await deployments(visit, found)} ${await log(visit, found)}
    ${isAllowed(visit, 'delete_service') && changes(visit, found)}`;
  },
};

async function deployments(visit: Visit, { id }: ServiceRow): Promise<HtmlPart> {
  const listed = await readOperation<typeof listDeployments>(visit, 'list_deployments', { serviceId: id });
  if (listed === undefined) return undefined;
  const none = emptyState('No deployments', 'Agents deploy with deploy_service. All revisions are listed here.');
  return html`<section>
    <h2>Deployments</h2>
    ${listed.deployments.length === 0 ? none : deploymentTable(visit, listed.deployments, listed.current)}
  </section>`;
}

const STATES = { running: 'ok', superseded: '', failed: 'bad' } as const;

function deploymentTable(visit: Visit, all: readonly Deployment[], current: number): HtmlPart {
  return table(
    'Deployments',
    ['Revision', 'Status', 'Actor', 'Time', ''],
    all.map(({ revision, state, detail, createdBy, createdAt }) => [
      revision,
      [tag(state, STATES[state]), detail !== '' && html` <span class="soft">${detail}</span>`],
      createdBy,
      timestamp(createdAt),
      revision !== current &&
        isAllowed(visit, 'rollback_service') &&
        confirmedAction(visit, 'rollback', {
          label: 'Roll back',
          question: `Revision ${revision} becomes current, and the service restarts.`,
          yes: 'Roll back',
          values: { revision: String(revision) },
        }),
    ]),
  );
}

async function log(visit: Visit, { id }: ServiceRow): Promise<HtmlPart> {
  const found = await readOperation<typeof readLogs>(visit, 'read_logs', { serviceId: id, limit: 100 });
  if (found === undefined) return undefined;
  const lines = found.untrusted.lines.map(({ at, text }) => `${at}  ${text}`).join('\n');
  return html`<section>
    <h2>Log</h2>
    ${lines === '' ? html`<p class="soft">No output.</p>` : html`<pre class="copy" tabindex="0">${lines}</pre>`}
  </section>`;
}

function changes(visit: Visit, { name }: ServiceRow): HtmlPart {
  const remove = {
    label: 'Delete service',
    question: `Deletes ${name} with its revisions, environment file, log and tokens. You can restore it for 30 days, without log and tokens. Attached mailboxes stay.`,
    yes: 'Delete',
  };
  return html`<section>
    <h2>Changes</h2>
    ${confirmedAction(visit, 'remove', remove)}
  </section>`;
}
