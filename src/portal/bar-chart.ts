import { table } from './components.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import type { Translator } from './translator.ts';

/** One bar: an interval with a value for each series. */
export interface ChartBar {
  /** Begin of the interval, ms UTC. */
  readonly at: number;
  readonly values: readonly number[];
}

export interface ChartParts {
  readonly t: Translator;
  readonly title: string;
  /** The number that says the most, such as a total. */
  readonly headline: HtmlPart;
  /** A remark beside it. */
  readonly note?: HtmlPart;
  /** Names of the series, from the bottom up; their look is their position. */
  readonly series: readonly string[];
  readonly bars: readonly ChartBar[];
  /** Text of a value; by default the number. */
  readonly text?: (value: number) => string;
  /** Intervals of days: dates without a time. */
  readonly days: boolean;
}

const WIDTH = 480;
const HEIGHT = 96;
const GAP = 2;

/**
 * A chart with stacked bars, drawn on the server: it needs no script, follows the theme by CSS, and prints. The numbers are
 * in a table below, for screen readers and for who wants them exactly.
 */
export function barChart(chart: ChartParts): Html {
  const most = Math.max(1, ...chart.bars.map(({ values }) => sumOf(values)));
  return html`<figure class="bars">
    <figcaption>
      <span class="chart-title">${chart.title}</span> <strong>${chart.headline}</strong>
      ${chart.note !== undefined && html`<span class="small soft">${chart.note}</span>`}
    </figcaption>
    <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
      ${chart.bars.flatMap((bar, i) => barOf(bar, i, chart.bars.length, most))}
      <path class="axis" d="M0 ${HEIGHT - 0.5}H${WIDTH}" />
    </svg>
    ${ends(chart)} ${numbers(chart)}
  </figure>`;
}

function barOf({ values }: ChartBar, at: number, many: number, most: number): Html[] {
  const step = WIDTH / many;
  let below = 0;
  return values.flatMap((value, series) => {
    if (value <= 0) return [];
    // A value that exists is seen, however small it is beside the others.
    const height = Math.max(1.5, (value / most) * (HEIGHT - 4));
    below += height;
    const x = (at * step + GAP / 2).toFixed(1);
    const width = Math.max(1, step - GAP).toFixed(1);
    return html`<rect
      class="series-${series}"
      x="${x}"
      y="${(HEIGHT - below).toFixed(1)}"
      width="${width}"
      height="${height.toFixed(1)}"
    ></rect>`;
  });
}

function ends({ t, bars, days }: ChartParts): HtmlPart {
  const [first] = bars;
  return (
    first !== undefined &&
    html`<p class="chart-ends small soft"><span>${when(t, first.at, days)}</span><span>${t('charts.now')}</span></p>`
  );
}

function numbers({ t, title, series, bars, days, text = String }: ChartParts): Html {
  const rows = bars
    .filter(({ values }) => sumOf(values) > 0)
    .map(({ at, values }) => [when(t, at, days), ...values.map((value) => text(value))]);
  return html`<details class="small">
    <summary>${t('charts.numbers')}<span class="hidden"> ${t('overview.of', { name: title })}</span></summary>
    ${rows.length === 0 ? html`<p class="soft">${t('charts.none')}</p>` : table(title, [t(days ? 'charts.day' : 'charts.time'), ...series], rows, t)}
  </details>`;
}

function when(t: Translator, at: number, days: boolean): Html {
  const date = new Date(at);
  // Days are those of UTC: in the zone of the reader they would begin at odd hours.
  if (days) return html`<time datetime="${date.toISOString()}">${t.dates.chartDay.format(date)}</time>`;
  return html`<time datetime="${date.toISOString()}" data-local>${t.dates.chartHour.format(date)} UTC</time>`;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, n) => sum + n, 0);
}
