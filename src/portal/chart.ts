import { Html, html } from './html.ts';
import { ENGLISH } from './translator.ts';

const WIDTH = 640;
const HEIGHT = 120;
/** Share of a day's width that its bar has. */
const BAR = 0.8;

/** One day of a chart. */
export interface ChartDay {
  /** As a date. */
  day: string;
  total: number;
  passed: number;
}

/** Bars by day: what passed below, what failed on top of it. Days without a value are empty. Without scripts and styles. */
export function dayChart(title: string, days: readonly ChartDay[], last: string, count: number, t = ENGLISH): Html {
  const most = Math.max(1, ...days.map(({ total }) => total));
  const step = WIDTH / count;
  const bars = days.map(({ day, total, passed }) => {
    const at = count - 1 - daysBetween(day, last);
    const bar = (value: number, above: number, look: string): Html => {
      const height = (HEIGHT * value) / most;
      const y = HEIGHT - height - (HEIGHT * above) / most;
      return new Html(
        `<rect class="${look}" x="${round(at * step)}" y="${round(y)}" width="${round(step * BAR)}" height="${round(height)}"/>`,
      );
    };
    return html`<g>
      <title>${t('reports.bar', { day, passed: String(passed), failed: String(total - passed) })}</title>
      ${bar(passed, 0, 'good')}${bar(total - passed, passed, 'fails')}
    </g>`;
  });
  const open = new Html(`<svg class="chart" role="img" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none"`);
  return html`${open} aria-label="${title}">${bars}</svg>`;
}

function daysBetween(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
