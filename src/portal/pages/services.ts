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
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, isAllowed, readOperation, type Visit } from '../visit.ts';
import { DELETED_SERVICE_ACTIONS, deletedServices } from './deleted.ts';
import type { listDeployments, readLogs } from '../../operations/services/history.ts';

type ServiceRow = OutputOf<typeof listServicesOf>['services'][number];

export const services: Page = {
  path: '/services',
  name: 'Services',
  translated: true,
  menu: 'Programs',
  needs: 'list_services',
  notices: {
    deleted: { message: 'service.deleted' },
    purged: { message: 'service.purged' },
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
    const t = translatorOf(visit.request);
    return html`${pageHead(t('page.Services'), t('service.about'))}
    ${all.length === 0 ? emptyState(t('service.none'), t('service.none-text')) : serviceTable(visit, all)}
    ${nextPage(`${visit.base}/services`, listed?.nextCursor, t)}
    ${isAllowed(visit, 'create_service') && (await createForm(visit, state))} ${await deletedServices(visit)}`;
  },
};

export function serviceTable({ base, request }: Visit, all: readonly ServiceRow[]): HtmlPart {
  const t = translatorOf(request);
  return table(
    t('page.Services'),
    [t('account.name'), t('service.revision'), t('service.run-by'), t('mailbox.created')],
    all.map(({ id, name, revision, control, createdAt }) => [
      html`<a href="${base}/services/${id}">${name}</a>`,
      revision === 0 ? tag(t('service.not-deployed')) : revision,
      controlOf(t, control),
      dateOnly(createdAt, t),
    ]),
    t,
  );
}

const CONTROLS = { systemd: 'systemd', compose: 'Docker Compose' } as const;

function controlOf(t: Translator, control: ServiceRow['control']): string {
  if (control === 'none') return t('service.external');
  return control === 'command' ? t('heading.This server') : CONTROLS[control];
}

async function createForm(visit: Visit, state: PageState): Promise<HtmlPart> {
  const formState = formStateFor(state, 'create');
  const t = translatorOf(visit.request);
  const projects = (await readOperation<typeof listProjects>(visit, 'list_projects', { limit: 100 }))?.projects ?? [];
  const choices = projects.map(({ id, name }) => ({ value: id, label: name }));
  const body = html`${field({ name: 'name', label: t('account.name'), placeholder: 'shop' }, formState)}
  ${choices.length > 1 && select({ name: 'projectId', label: t('service.project'), choices }, formState)}`;
  return html`<section>
    <h2>${t('service.create-title')}</h2>
    ${actionForm(visit, 'create', t('service.create'), body)}
  </section>`;
}

type Deployment = OutputOf<typeof listDeployments>['deployments'][number];

const which = (params: Params) => ({ serviceId: params['id'] });
const controlResult = (result: Record<string, unknown>, success: string) =>
  ({ kind: 'done', notice: result['state'] === 'failed' ? 'failed' : success }) as const;

export const service: Page = {
  path: '/services/:id',
  name: 'Service',
  translated: true,
  menu: null,
  needs: 'list_services',
  notices: {
    created: { message: 'service.created' },
    restarted: { message: 'service.restarted' },
    rolled: { message: 'service.rolled' },
    failed: { message: 'service.failed' },
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
    const t = translatorOf(visit.request);
    const restart =
      isAllowed(visit, 'restart_service') &&
      found.revision > 0 &&
      actionButton(visit, 'restart', t('service.restart'), {}, '');
    return html`${backLink(`${visit.base}/services`, t('page.Services'))} ${pageHead(found.name, undefined, restart)}
    ${descriptionList([
      [t('service.revision'), found.revision === 0 ? t('service.not-deployed') : found.revision],
      [t('service.run-by'), controlOf(t, found.control)],
      [t('service.environment'), html`<code>${visit.context.baseUrl()}/api/services/${found.id}/env</code>`],
    ])}
    ${await deployments(t, visit, found)} ${await log(t, visit, found)}
    ${isAllowed(visit, 'delete_service') && changes(t, visit, found)}`;
  },
};

async function deployments(t: Translator, visit: Visit, { id }: ServiceRow): Promise<HtmlPart> {
  const listed = await readOperation<typeof listDeployments>(visit, 'list_deployments', { serviceId: id });
  if (listed === undefined) return undefined;
  const none = emptyState(t('service.no-deployments'), t('service.no-deployments-text'));
  return html`<section>
    <h2>${t('service.deployments')}</h2>
    ${listed.deployments.length === 0 ? none : deploymentTable(t, visit, listed.deployments, listed.current)}
  </section>`;
}

const STATES = { running: 'ok', superseded: '', failed: 'bad' } as const;

function deploymentTable(t: Translator, visit: Visit, all: readonly Deployment[], current: number): HtmlPart {
  return table(
    t('service.deployments'),
    [t('service.revision'), t('domains.status'), t('audit.actor'), t('charts.time'), ''],
    all.map(({ revision, state, detail, createdBy, createdAt }) => [
      revision,
      [
        tag(t(`deployment.${state}`), STATES[state]),
        detail !== '' && html` <span class="soft">${t.english(detail)}</span>`,
      ],
      createdBy,
      timestamp(createdAt, t),
      revision !== current &&
        isAllowed(visit, 'rollback_service') &&
        confirmedAction(visit, 'rollback', {
          label: t('service.roll-back'),
          question: t('service.roll-back-question', { revision }),
          yes: t('service.roll-back'),
          values: { revision: String(revision) },
        }),
    ]),
    t,
  );
}

async function log(t: Translator, visit: Visit, { id }: ServiceRow): Promise<HtmlPart> {
  const found = await readOperation<typeof readLogs>(visit, 'read_logs', { serviceId: id, limit: 100 });
  if (found === undefined) return undefined;
  const lines = found.untrusted.lines.map(({ at, text }) => `${at}  ${text}`).join('\n');
  return html`<section>
    <h2>${t('service.log')}</h2>
    ${lines === '' ? html`<p class="soft">${t('service.no-output')}</p>` : html`<pre class="copy" tabindex="0">${lines}</pre>`}
  </section>`;
}

function changes(t: Translator, visit: Visit, { name }: ServiceRow): HtmlPart {
  const remove = {
    label: t('service.delete'),
    question: t('service.delete-question', { name }),
    yes: t('mailbox.delete-button'),
  };
  return html`<section>
    <h2>${t('charts.changes')}</h2>
    ${confirmedAction(visit, 'remove', remove)}
  </section>`;
}
