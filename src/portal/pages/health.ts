import type { getHealth } from '../../operations/operator/doctor.ts';
import { field } from '../forms.ts';
import { html, type HtmlPart } from '../html.ts';
import { actionForm, formStateFor, operationAction, type Page } from '../page.ts';
import { emptyState, pageHead, table, tag, timestamp } from '../components.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { type OutputOf, readOperation } from '../visit.ts';

type HealthLine = OutputOf<typeof getHealth>['checks'][number];

const LOOKS = { failed: 'bad', warning: 'warn', unknown: '', off: '', ok: 'ok' } as const;

/** Failed checks first. */
const ORDER = ['failed', 'warning', 'unknown', 'off', 'ok'] as const;

/** The checks of the server, for its operator. */
export const health: Page = {
  path: '/health',
  name: 'Health',
  translated: true,
  menu: 'This server',
  needs: 'get_health',
  notices: { checked: { message: 'health.ran' } },
  actions: {
    check: operationAction('run_doctor', 'checked', (fields) => ({ peer: fields.line('peer') })),
  },
  async show(visit, state) {
    const last = await readOperation<typeof getHealth>(visit, 'get_health', {});
    if (last === undefined) return undefined;
    const t = translatorOf(visit.request);
    const words = { label: t('health.peer'), optional: t('field.optional'), hint: t('health.peer-hint') };
    const peer = field({ name: 'peer', ...words, autocomplete: 'off' }, formStateFor(state, 'check'));
    const none = emptyState(t('health.none'), t('health.none-text'));
    return html`${pageHead(t('page.Health'), summary(t, last))}
    ${last.checks.length === 0 ? none : healthTable(t, last.checks)}
    ${actionForm(visit, 'check', t('health.check-now'), peer)}`;
  },
};

function summary(t: Translator, { checkedAt, checks }: OutputOf<typeof getHealth>): HtmlPart {
  if (checkedAt === null) return t('health.about');
  const failed = checks.filter(({ status }) => status === 'failed').length;
  const result = failed === 0 ? t('health.all-passed') : t('health.some-failed', { failed, all: checks.length });
  return t.rich('health.checked', { result, time: timestamp(checkedAt, t) });
}

function healthTable(t: Translator, checks: readonly HealthLine[]): HtmlPart {
  const sorted = ORDER.flatMap((status) => checks.filter((check) => check.status === status));
  return table(
    t('health.checks'),
    [t('health.check'), t('domains.status'), t('health.finding'), t('health.fix')],
    sorted.map((check) => healthRow(t, check)),
    t,
  );
}

function healthRow(t: Translator, { name, status, why, impact, fix, failedSince }: HealthLine): HtmlPart[] {
  const since = failedSince !== null && t.rich('devices.since', { time: timestamp(failedSince, t) });
  return [
    t.english(name),
    [tag(t(`health-status.${status}`), LOOKS[status]), since !== false && html` <span class="soft">${since}</span>`],
    [t.english(why), status !== 'ok' && html` <span class="soft">${t.english(impact)}</span>`],
    fix === '' ? t('health.no-fix') : t.english(fix),
  ];
}
