import { afterAll, beforeAll, expect, test } from 'vitest';
import { readJson } from '../../../mail/jmap/json.ts';
import { type JmapWorld, jmapWorld } from '../../support/jmap-world.ts';

let world: JmapWorld;
beforeAll(async () => void (world = await jmapWorld()));
afterAll(() => world[Symbol.asyncDispose]());

const echoed = (resultOf: number, path: string): object => ({ resultOf: String(resultOf), name: 'Core/echo', path });

test('answers that double with each call end in an error, not in memory', async () => {
  const doubling = Array.from({ length: 63 }, (_, i): [string, Record<string, unknown>, string] => {
    const all = echoed(i, '');
    return ['Core/echo', { '#a': all, '#b': all }, String(i + 1)];
  });
  const { methodResponses } = await world.request([['Core/echo', { text: 'x'.repeat(1000) }, '0'], ...doubling]);
  expect(JSON.stringify(methodResponses).length).toBeLessThan(50_000_000);
  expect(methodResponses.at(-1)?.[0]).toBe('error');
  expect(methodResponses.find(([name]) => name === 'error')?.[1]['type']).toBe('requestTooLarge');
});

test('lists that multiply by "*" end in an error', async () => {
  const thousand = (i: number, path: string): object => ({
    conditions: Array.from({ length: 1000 }, () => ({ '#l': echoed(i, path) })),
  });
  const { methodResponses } = await world.request([
    ['Core/echo', { l: Array(1000).fill(1) }, '0'],
    ['Core/echo', { filter: thousand(0, '/l') }, '1'],
    ['Core/echo', { '#l': echoed(1, '/filter/conditions/*/l') }, '2'],
  ]);
  expect(methodResponses[2]?.[1]).toMatchObject({ type: 'requestTooLarge' });
});

test('behind so many octets of answers the other calls are left for another request', async () => {
  const long = 'x'.repeat(9_000_000);
  const { methodResponses } = await world.request([
    ['Core/echo', { long }, '0'],
    ...Array.from({ length: 9 }, (_, i): [string, Record<string, unknown>, string] => [
      'Core/echo',
      { '#long': echoed(0, '/long') },
      String(i + 1),
    ]),
  ]);
  expect(methodResponses.map(([name]) => name)).toEqual([...Array(4).fill('Core/echo'), ...Array(6).fill('error')]);
  expect(methodResponses[9]?.[1]).toMatchObject({ type: 'requestTooLarge' });
});

test('a string of nine megabytes is read, and names after it', () => {
  const long = `${'x'.repeat(9_000_000)}\\"`;
  expect(readJson(Buffer.from(JSON.stringify({ a: long, b: '\\' })))).toEqual({ a: long, b: '\\' });
  expect(() => readJson(Buffer.from(`{"a":"\\\\\\"","b":1,"\\u0062":2}`))).toThrow('stands twice');
});
