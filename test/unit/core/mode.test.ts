import { expect, test } from 'vitest';
import { isFlagSet } from '../../../src/core/mode.ts';

test.each(['1', 'true', 'TRUE', 'yes', 'Yes', 'on', '2', 'maybe', ' 1 '])('read-only by %j', (value) => {
  expect(isFlagSet(value)).toBe(true);
});

test.each([undefined, '', '0', 'false', ' FALSE ', 'No', 'off'])('not read-only by %j', (value) => {
  expect(isFlagSet(value)).toBe(false);
});
