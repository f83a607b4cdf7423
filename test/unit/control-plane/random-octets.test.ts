import { expect, test } from 'vitest';
import { randomOctets } from '../../../src/core/random-octets.ts';

test('each call gives as many octets as were asked for, and none that was given before', () => {
  const given = new Set<string>();
  for (let n = 0; n < 5_000; n++) {
    const octets = randomOctets(9 + (n % 24));
    expect(octets.length).toBe(9 + (n % 24));
    given.add(octets.subarray(0, 9).toString('hex'));
  }
  expect(given.size).toBe(5_000);
});

test('what was given stays as it is while others are given', () => {
  const first = randomOctets(16);
  const text = first.toString('hex');
  for (let n = 0; n < 1_000; n++) randomOctets(16).fill(0);
  expect(first.toString('hex')).toBe(text);
});
