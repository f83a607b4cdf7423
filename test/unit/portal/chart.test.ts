import { expect, test } from 'vitest';
import { ENGLISH } from '../../../src/portal/translator.ts';
import { barChart } from '../../../src/portal/bar-chart.ts';

const HOUR = 3_600_000;
const bars = [
  { at: 0, values: [10, 0] },
  { at: HOUR, values: [0, 0] },
  { at: 2 * HOUR, values: [10, 10] },
];
const chart = (title = 'Received') =>
  barChart({ t: ENGLISH, title, headline: 30, series: ['Inbox', 'Junk'], bars, days: false }).text;

test('a chart has one bar for each value that is not zero, stacked from the bottom', () => {
  const rects = [...chart().matchAll(/class="series-(\d)"\s+x="([\d.]+)"\s+y="([\d.]+)"[^>]*height="([\d.]+)"/g)];
  const shapes = rects.map(([, series, x, y, height]) => [series, Number(x), Number(y), Number(height)]);
  expect(shapes).toEqual([
    ['0', 1, 50, 46],
    ['0', 321, 50, 46],
    ['1', 321, 4, 46],
  ]);
});

test('its numbers are in a table, without intervals in which there was nothing', () => {
  const text = chart();
  expect(text.match(/<tr>/g)).toHaveLength(3);
  expect(text).toContain('<th scope="col">Junk</th>');
  expect(text).toContain('aria-hidden="true"');
});

test('a title that wants to be markup is text', () => {
  expect(chart('<img src=x>')).not.toContain('<img');
});
