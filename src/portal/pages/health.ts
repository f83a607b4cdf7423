import type { getHealth } from '../../operations/operator/doctor.ts';
import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { actionForm, formStateFor, operationAction, type Page } from '../page.ts';
import { emptyState, pageHead, table, tag, timestamp } from '../components.ts';
import { type OutputOf, readOperation } from '../visit.ts';

type HealthLine = OutputOf<typeof getHealth>['checks'][number];

const TAGS = {
  failed: ['Failed', 'bad'],
  warning: ['Warning', 'warn'],
  unknown: ['Unknown', ''],
  off: ['Off', ''],
  ok: ['Passed', 'ok'],
} as const;

/** Failed checks first. */
const ORDER = ['failed', 'warning', 'unknown', 'off', 'ok'] as const;

/** The checks of the server, for its operator. */
export const health: Page = {
  path: '/health',
  name: 'Health',
  menu: 'This server',
  needs: 'get_health',
  notices: { checked: 'All checks ran.' },
  actions: {
    check: operationAction('run_doctor', 'checked', (fields) => ({ peer: fields.line('peer') })),
  },
  async show(visit, state) {
    const last = await readOperation<typeof getHealth>(visit, 'get_health', {});
    if (last === undefined) return undefined;
    const peer = {
      name: 'peer',
      label: 'Remote mail server',
      optional: true,
      hint: 'Tests outgoing port 25 to this server, such as gmail-smtp-in.l.google.com. No mail is sent.',
      autocomplete: 'off',
    };
    const form = formStateFor(state, 'check');
    return html`${pageHead('Health', summary(last))} ${last.checks.length === 0 ? NONE : healthTable(last.checks)}
    ${actionForm(visit, 'check', 'Check now', field(peer, form))}`;
  },
};

const NONE = emptyState('Not checked yet', 'The checks run every hour, the first time two minutes after the start.');

function summary({ checkedAt, checks }: OutputOf<typeof getHealth>): HtmlPart {
  if (checkedAt === null) return 'Checks of the server, its DNS, ports, certificates, disk and backups.';
  const failed = checks.filter(({ status }) => status === 'failed').length;
  const count = failed === 0 ? 'No check failed' : `${failed} of ${checks.length} checks failed`;
  return [count, ', ', timestamp(checkedAt), '. The checks run every hour.'];
}

function healthTable(checks: readonly HealthLine[]): HtmlPart {
  const sorted = ORDER.flatMap((status) => checks.filter((check) => check.status === status));
  return table(
    'Checks',
    ['Check', 'Status', 'Finding', 'What to do'],
    sorted.map(({ name, status, why, impact, fix, failedSince }) => [
      name,
      [
        tag(TAGS[status][0], TAGS[status][1]),
        failedSince !== null && html` <span class="soft">since ${timestamp(failedSince)}</span>`,
      ],
      [why, status !== 'ok' && html` <span class="soft">${impact}</span>`],
      fix === '' ? 'Nothing' : fix,
    ]),
  );
}
