import { expect, test } from 'vitest';
import { readRange } from '../../../src/jmap/download-route.ts';

test.each([
  [undefined, undefined],
  ['bytes=0-', { start: 0, end: 10 }],
  ['bytes=2-4', { start: 2, end: 5 }],
  ['bytes=2-400', { start: 2, end: 10 }],
  ['bytes=-3', { start: 7, end: 10 }],
  ['bytes=-300', { start: 0, end: 10 }],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=4-2', undefined],
  ['bytes=-', undefined],
  ['bytes=0-1,3-4', undefined],
  ['lines=0-1', undefined],
])('%s of 10 octets', (header, range) => {
  expect(readRange(header, 10)).toEqual(range);
});
