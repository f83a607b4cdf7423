import { expect, test } from 'vitest';
import { jsonExcess } from '../../../mail/limits/json-bounds.ts';

const BOUNDS = { depth: 3, elements: 10 };

test.each([
  ['[[[1]]]', undefined],
  ['[[[[1]]]]', 'depth'],
  ['[{},{},{},{},{}]', undefined],
  ['[{},{},{},{},{},{}]', 'elements'],
  [`{"a":"${'[{,'.repeat(100)}"}`, undefined],
  [`{"a":"\\"${'['.repeat(100)}","b\\\\":[[[]]]}`, 'depth'],
  [`{"a":"${'['.repeat(100)}`, undefined],
  [']]]]]]]]'.repeat(100), undefined],
])('%s', (text, excess) => {
  expect(jsonExcess(text, BOUNDS)).toBe(excess);
});
