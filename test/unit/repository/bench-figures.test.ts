import { expect, test } from 'vitest';
import { compareRuns, figuresOf } from '../../../bench/lib/figures.ts';

const TABLE = (rate: number): string => `4096 octets a message, 3 interleaved rounds, medians.
| | msg/s ours | ratio |
|---|---|---|
| 10 connections | ${rate} | **2.50** |
`;

test('figures of a table have the names of their row and column', () => {
  expect(figuresOf(TABLE(812.5)).slice(-2)).toEqual([
    { row: '10 connections', what: 'msg/s ours', value: 812.5 },
    { row: '10 connections', what: 'ratio', value: 2.5 },
  ]);
});

test('figures of a line have the words before them, and a row that is printed twice is numbered', () => {
  const line = 'search   p50 1.20 ms, p99 3.4 ms\n';
  const row = 'search p50 # ms, p99 # ms';
  expect(figuresOf(line + line)).toEqual([
    { row, what: 'search p50', value: 1.2 },
    { row, what: 'ms, p99', value: 3.4 },
    { row: `${row} (2)`, what: 'search p50', value: 1.2 },
    { row: `${row} (2)`, what: 'ms, p99', value: 3.4 },
  ]);
});

test('two trees are compared by medians; what never differs is left out', () => {
  const runs = (...rates: number[]): ReturnType<typeof figuresOf>[] => rates.map((rate) => figuresOf(TABLE(rate)));
  expect(compareRuns(runs(100, 120, 90), runs(150, 110, 140))).toEqual([
    { row: '10 connections', what: 'msg/s ours', first: 100, second: 140, larger: 2, rounds: 3 },
  ]);
});
