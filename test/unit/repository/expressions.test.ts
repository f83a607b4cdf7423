import { expect, test } from 'vitest';
import { splitSource } from '../../../tools/source-text.ts';
import { worstInput } from '../../../tools/expression-cost.ts';

test.each([/(?:\r\n)+$/, /\s+$/, /\([^)]*\)/g, /(?:,\s*)+;/])(
  'an expression that takes the square of its input is found: %s',
  { timeout: 300_000 },
  (expression) => {
    expect(worstInput(expression)).toBeDefined();
  },
);

test.each([/[^\r\n]+/g, /^[a-z]+$/, /\s\s+|[\t\r\n]/g, /={1,2}$/])('a linear one is not: %s', (expression) => {
  expect(worstInput(expression)).toBeUndefined();
});

test('literals are found with their flags and lines, divisions are not', () => {
  const { expressions } = splitSource('const a = b / c / d;\nreturn /x[/]y/gi.test(a);');
  expect(expressions).toEqual([{ text: '/x[/]y/gi', line: 2 }]);
});
