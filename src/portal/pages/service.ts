import type { listDeployments, readLogs } from '../../operations/services/history.ts';
import type { listServicesOf } from '../../operations/services/services.ts';
import { html, type Part } from '../html.ts';
import { acting, type Page, type Params, press, sure } from '../page.ts';
import { crumb, empty, facts, head, moment, table, tag } from '../parts.ts';
import { type Answer, can, read, type Visit } from '../visit.ts';
import { CONTROLS } from './services.ts';

type Service = Answer<typeof listServicesOf>['services'][number];
type Deployment = Answer<typeof listDeployments>['deployments'][number];

const which = (params: Params) => ({ serviceId: params['id'] });
const ran = (result: Record<string, unknown>, said: string) =>
  ({ kind: 'done', said: result['state'] === 'failed' ? 'failed' : said }) as const;

export const service: Page = {
  path: '/services/:id',
  name: 'Service',
  menu: null,
  needs: 'list_services',
  done: {
    created: 'The service is there. Attach a mailbox to it on the page of the mailbox, or deploy to it by a token.',
    restarted: 'The service was restarted.',
    rolled: 'The earlier revision is the current one again.',
    failed: 'The control of the service failed; the newest deployment below says how.',
  },
  acts: {
    restart: acting(
      'restart_service',
      (_fields, params) => which(params),
      (result) => ran(result, 'restarted'),
    ),
    rollback: acting(
      'rollback_service',
      (fields, params) => ({ ...which(params), revision: fields.text('revision') }),
      (result) => ran(result, 'rolled'),
    ),
    remove: acting(
      'delete_service',
      (_fields, params) => which(params),
      (_result, visit) => ({
        kind: 'done',
        said: 'deleted',
        to: `${visit.base}/services`,
      }),
    ),
  },
  async show(visit, { params }) {
    const listed = await read<typeof listServicesOf>(visit, 'list_services', { limit: 100 });
    const found = listed?.services.find((one) => one.id === params['id']);
    if (found === undefined) return undefined;
    const restart = can(visit, 'restart_service') && found.revision > 0 && press(visit, 'restart', 'Restart', {}, '');
    return html`${crumb(`${visit.base}/services`, 'Services')} ${head(found.name, undefined, restart)}
    ${facts([
      ['Revision', found.revision === 0 ? 'nothing was deployed yet' : found.revision],
      ['Run by', CONTROLS[found.control]],
      ['Environment', html`<code>${visit.world.baseUrl()}/api/services/${found.id}/env</code>`],
    ])}
    ${await deployments(visit, found)} ${await log(visit, found)} ${can(visit, 'delete_service') && end(visit, found)}`;
  },
};

async function deployments(visit: Visit, { id }: Service): Promise<Part> {
  const listed = await read<typeof listDeployments>(visit, 'list_deployments', { serviceId: id });
  if (listed === undefined) return undefined;
  const none = empty(
    'Nothing was deployed yet',
    'An agent deploys with deploy_service; every revision is listed here.',
  );
  return html`<section>
    <h2>Deployments</h2>
    ${listed.deployments.length === 0 ? none : deploymentTable(visit, listed.deployments, listed.current)}
  </section>`;
}

const STATES = { running: 'ok', superseded: '', failed: 'bad' } as const;

function deploymentTable(visit: Visit, all: readonly Deployment[], current: number): Part {
  return table(
    'Deployments',
    ['Revision', 'State', 'By', 'When', ''],
    all.map(({ revision, state, detail, createdBy, createdAt }) => [
      revision,
      [tag(state, STATES[state]), detail !== '' && html` <span class="soft">${detail}</span>`],
      createdBy,
      moment(createdAt),
      revision !== current &&
        can(visit, 'rollback_service') &&
        sure(visit, 'rollback', {
          label: 'Back to this',
          question: `Revision ${revision} becomes the current one, and the service is restarted.`,
          yes: 'Roll back',
          values: { revision: String(revision) },
        }),
    ]),
  );
}

async function log(visit: Visit, { id }: Service): Promise<Part> {
  const found = await read<typeof readLogs>(visit, 'read_logs', { serviceId: id, limit: 100 });
  if (found === undefined) return undefined;
  const lines = found.untrusted.lines.map(({ at, text }) => `${at}  ${text}`).join('\n');
  return html`<section>
    <h2>Log</h2>
    ${lines === '' ? html`<p class="soft">Nothing was printed.</p>` : html`<pre class="copy" tabindex="0">${lines}</pre>`}
  </section>`;
}

function end(visit: Visit, { name }: Service): Part {
  const remove = {
    label: 'Delete the service',
    question: `${name} is gone with its revisions, environment file and log. Attached mailboxes stay.`,
    yes: 'Delete it',
  };
  return html`<section>
    <h2>Changes</h2>
    ${sure(visit, 'remove', remove)}
  </section>`;
}
