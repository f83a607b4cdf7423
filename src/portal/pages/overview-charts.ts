import { agentActs } from '../../audit/queries.ts';
import type { getEmailStats } from '../../operations/analytics/email-stats.ts';
import type { getServerHistory } from '../../operations/analytics/server-history.ts';
import { barChart, type ChartBar } from '../bar-chart.ts';
import { durationOf } from '../components.ts';
import { html, type HtmlPart } from '../html.ts';
import { type Translator, translatorOf } from '../translator.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Periods of the charts: number of bars and their length. */
const RANGES = {
  '24h': { unit: 'hour', count: 24, bars: 24, step: HOUR_MS },
  '7d': { unit: 'day', count: 7, bars: 28, step: 6 * HOUR_MS },
  '30d': { unit: 'day', count: 30, bars: 30, step: DAY_MS },
} as const;
type RangeKey = keyof typeof RANGES;
type ChartRange = (typeof RANGES)[RangeKey];

/** Charts of mail, agents and, for the operator, the queue. */
export async function overviewCharts(visit: Visit, query: Readonly<Record<string, unknown>>): Promise<HtmlPart> {
  const key = Object.keys(RANGES).find((one) => one === query['range']) as RangeKey | undefined;
  const range = RANGES[key ?? '24h'];
  const t = translatorOf(visit.request);
  const charts = await Promise.all([
    mailCharts(t, visit, range),
    agentChart(t, visit, range),
    serverCharts(t, visit, range),
  ]);
  if (charts.flat().every((one) => one === undefined)) return undefined;
  return html`<section aria-label="${t('charts.title')}">
    <div class="titled">
      <h2>${t('charts.last', { period: periodOf(t, range) })}</h2>
      ${rangeLinks(t, visit, key ?? '24h')}
    </div>
    <div class="charts">${charts}</div>
  </section>`;
}

const CURRENT = html`aria-current="true"`;

/** Length of a period, such as "24 hours". */
function periodOf({ language }: Translator, { unit, count }: Pick<ChartRange, 'unit' | 'count'>): string {
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}

function rangeLinks(t: Translator, { base }: Visit, here: RangeKey): HtmlPart {
  return html`<p class="ranges small">
    ${Object.entries(RANGES).map(
      ([key, range]) => html`<a href="${base}?range=${key}" ${key === here && CURRENT}>${periodOf(t, range)}</a> `,
    )}
  </p>`;
}

/** Begins of the intervals, oldest first; the last one is not over yet. */
function beginsOf({ bars, step }: ChartRange, now: number): number[] {
  const last = Math.floor(now / step) * step;
  return Array.from({ length: bars }, (_, i) => last - (bars - 1 - i) * step);
}

/** Sums what is counted by hour or day within each interval. */
function barsOf(
  range: ChartRange,
  now: number,
  points: readonly { at: number; values: readonly number[] }[],
  join: (a: number, b: number) => number = (a, b) => a + b,
): ChartBar[] {
  const by = Map.groupBy(points, ({ at }) => Math.floor(at / range.step) * range.step);
  return beginsOf(range, now).map((at) => ({
    at,
    values: (by.get(at) ?? []).reduce<number[]>(
      (sum, { values }) => values.map((n, i) => join(sum[i] ?? 0, n)),
      (points[0]?.values ?? [0]).map(() => 0),
    ),
  }));
}

async function mailCharts(t: Translator, visit: Visit, range: ChartRange): Promise<HtmlPart[]> {
  const now = visit.context.clock();
  const [first = now] = beginsOf(range, now);
  const stats = await readOperation<typeof getEmailStats>(visit, 'get_email_stats', {
    from: new Date(first).toISOString(),
    bucket: range.step === DAY_MS ? 'day' : 'hour',
  });
  if (stats === undefined) return [];
  const { totals } = stats;
  const of = (...kinds: string[]) =>
    barsOf(
      range,
      now,
      stats.series.map(({ at, counts }) => ({ at: Date.parse(at), values: kinds.map((kind) => counts[kind] ?? 0) })),
    );
  const days = range.step === DAY_MS;
  const { received = 0, junk = 0, sent = 0, bounced = 0, deferred = 0 } = totals;
  return [
    barChart({
      t,
      title: t('charts.received'),
      headline: received + junk,
      note: junk === 0 ? t('charts.no-junk') : t('charts.junk-share', { share: percent(t, junk, received + junk) }),
      series: [t('charts.inbox'), t('page.Junk')],
      bars: of('received', 'junk'),
      days,
    }),
    barChart({
      t,
      title: t('charts.sent'),
      headline: sent,
      note: bounced + deferred === 0 ? undefined : t('charts.failures', { bounced, deferred }),
      series: [t('charts.messages')],
      bars: of('sent'),
      days,
    }),
  ];
}

function percent(t: Translator, part: number, whole: number): string {
  const share = (part / whole) * 100;
  const shown = (value: number) => new Intl.NumberFormat(t.language, { style: 'percent' }).format(value);
  return share > 0 && share < 1 ? t('charts.under', { value: shown(0.01) }) : shown(Math.round(share) / 100);
}

/** Changes that tokens made. Members do not see the audit log. */
async function agentChart(t: Translator, visit: Visit, range: ChartRange): Promise<HtmlPart> {
  if (!isAllowed(visit, 'list_audit_events')) return undefined;
  const now = visit.context.clock();
  const [first = now] = beginsOf(range, now);
  const counts = await visit.context.store.scan(agentActs, {
    organization: visit.membership.organization,
    from: first,
  });
  const points = counts.map(({ hour, n }) => ({ at: hour * HOUR_MS, values: [n] }));
  return barChart({
    t,
    title: t('charts.agents'),
    headline: counts.reduce((sum, { n }) => sum + n, 0),
    series: [t('charts.changes')],
    bars: barsOf(range, now, points),
    days: range.step === DAY_MS,
  });
}

type HistorySeries = OutputOf<typeof getServerHistory>['series'];

/** Age of the queue and delivery times of the whole server, for the operator. */
async function serverCharts(t: Translator, visit: Visit, range: ChartRange): Promise<HtmlPart[]> {
  const now = visit.context.clock();
  const hours = Math.round((range.bars * range.step) / HOUR_MS);
  const history = await readOperation<typeof getServerHistory>(visit, 'get_server_history', { hours });
  if (history === undefined) return [];
  const days = range.step === DAY_MS;
  const of = (value: (one: HistorySeries[number]) => number) =>
    barsOf(
      range,
      now,
      history.series.map((one) => ({ at: Date.parse(one.at), values: [value(one)] })),
      Math.max,
    );
  const ages = of(({ queueOldestSeconds }) => queueOldestSeconds);
  const times = of(({ deliverySecondsP95 }) => deliverySecondsP95 ?? 0);
  return [
    barChart({
      t,
      title: t('charts.oldest'),
      headline: durationOf(peak(ages), t),
      note: t('charts.peak'),
      series: [t('charts.age')],
      bars: ages,
      text: (value) => durationOf(value, t),
      days,
    }),
    barChart({
      t,
      title: t('charts.delivery'),
      headline:
        peak(times) === 0 ? t('charts.none-delivered') : t('charts.under', { value: durationOf(peak(times), t) }),
      note: t('charts.most'),
      series: [t('charts.share')],
      bars: times,
      text: (value) => durationOf(value, t),
      days,
    }),
  ];
}

function peak(bars: readonly ChartBar[]): number {
  return Math.max(0, ...bars.map(({ values: [value = 0] }) => value));
}
