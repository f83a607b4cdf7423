import { agentActs } from '../../audit/queries.ts';
import type { getEmailStats } from '../../operations/analytics/email-stats.ts';
import type { getServerHistory } from '../../operations/analytics/server-history.ts';
import { barChart, type ChartBar } from '../bar-chart.ts';
import { durationOf } from '../components.ts';
import { html, type HtmlPart } from '../html.ts';
import { isAllowed, type OutputOf, readOperation, type Visit } from '../visit.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Periods of the charts: number of bars and their length. */
const RANGES = {
  '24h': { name: '24 hours', bars: 24, step: HOUR_MS },
  '7d': { name: '7 days', bars: 28, step: 6 * HOUR_MS },
  '30d': { name: '30 days', bars: 30, step: DAY_MS },
} as const;
type RangeKey = keyof typeof RANGES;
type ChartRange = (typeof RANGES)[RangeKey];

/** Charts of mail, agents and, for the operator, the queue. */
export async function overviewCharts(visit: Visit, query: Readonly<Record<string, unknown>>): Promise<HtmlPart> {
  const key = Object.keys(RANGES).find((one) => one === query['range']) as RangeKey | undefined;
  const range = RANGES[key ?? '24h'];
  const charts = await Promise.all([mailCharts(visit, range), agentChart(visit, range), serverCharts(visit, range)]);
  if (charts.flat().every((one) => one === undefined)) return undefined;
  return html`<section aria-label="Charts">
    <div class="titled">
      <h2>Last ${range.name}</h2>
      ${rangeLinks(visit, key ?? '24h')}
    </div>
    <div class="charts">${charts}</div>
  </section>`;
}

const CURRENT = html`aria-current="true"`;

function rangeLinks({ base }: Visit, here: RangeKey): HtmlPart {
  return html`<p class="ranges small">
    ${Object.entries(RANGES).map(
      ([key, { name }]) => html`<a href="${base}?range=${key}" ${key === here && CURRENT}>${name}</a> `,
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

async function mailCharts(visit: Visit, range: ChartRange): Promise<HtmlPart[]> {
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
      title: 'Received',
      headline: received + junk,
      note: junk === 0 ? 'no junk' : `${percent(junk, received + junk)} junk`,
      series: ['Inbox', 'Junk'],
      bars: of('received', 'junk'),
      days,
    }),
    barChart({
      title: 'Sent',
      headline: sent,
      note: bounced + deferred === 0 ? undefined : `${bounced} bounced, ${deferred} attempts deferred`,
      series: ['Messages'],
      bars: of('sent'),
      days,
    }),
  ];
}

function percent(part: number, whole: number): string {
  const share = (part / whole) * 100;
  return share > 0 && share < 1 ? 'under 1%' : `${Math.round(share)}%`;
}

/** Changes that tokens made. Members do not see the audit log. */
async function agentChart(visit: Visit, range: ChartRange): Promise<HtmlPart> {
  if (!isAllowed(visit, 'list_audit_events')) return undefined;
  const now = visit.context.clock();
  const [first = now] = beginsOf(range, now);
  const counts = await visit.context.store.scan(agentActs, {
    organization: visit.membership.organization,
    from: first,
  });
  const points = counts.map(({ hour, n }) => ({ at: hour * HOUR_MS, values: [n] }));
  return barChart({
    title: 'Changes by agents',
    headline: counts.reduce((sum, { n }) => sum + n, 0),
    series: ['Changes'],
    bars: barsOf(range, now, points),
    days: range.step === DAY_MS,
  });
}

type HistorySeries = OutputOf<typeof getServerHistory>['series'];

/** Age of the queue and delivery times of the whole server, for the operator. */
async function serverCharts(visit: Visit, range: ChartRange): Promise<HtmlPart[]> {
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
      title: 'Oldest queued mail',
      headline: durationOf(peak(ages)),
      note: 'peak, whole server',
      series: ['Age'],
      bars: ages,
      text: durationOf,
      days,
    }),
    barChart({
      title: 'Time to delivery',
      headline: peak(times) === 0 ? 'None delivered' : `under ${durationOf(peak(times))}`,
      note: '95% of deliveries, whole server',
      series: ['95%'],
      bars: times,
      text: durationOf,
      days,
    }),
  ];
}

function peak(bars: readonly ChartBar[]): number {
  return Math.max(0, ...bars.map(({ values: [value = 0] }) => value));
}
