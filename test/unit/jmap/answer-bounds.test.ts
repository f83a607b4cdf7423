import { afterAll, beforeAll, expect, test } from 'vitest';
import { readIJson } from '../../../mail/jmap/core/json.ts';
import { jsonPieces } from '../../../mail/jmap/core/json-pieces.ts';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import { assert, jsonValue, property } from '../../support/fast-check.ts';
import { type JmapFixture, createJmapFixture } from '../../support/jmap-fixture.ts';
import { storeTestMessage } from '../../support/jmap-message.ts';

let fixture: JmapFixture;
beforeAll(async () => void (fixture = await createJmapFixture()));
afterAll(() => fixture[Symbol.asyncDispose]());

const echoed = (resultOf: number, path: string): object => ({ resultOf: String(resultOf), name: 'Core/echo', path });

test('responses that double with each call end in an error and not in memory exhaustion', async () => {
  const doubling = Array.from({ length: 63 }, (_, i): [string, Record<string, unknown>, string] => {
    const all = echoed(i, '');
    return ['Core/echo', { '#a': all, '#b': all }, String(i + 1)];
  });
  const { methodResponses } = await fixture.request([['Core/echo', { text: 'x'.repeat(1000) }, '0'], ...doubling]);
  expect(JSON.stringify(methodResponses).length).toBeLessThan(50_000_000);
  expect(methodResponses.at(-1)?.[0]).toBe('error');
  expect(methodResponses.find(([name]) => name === 'error')?.[1]['type']).toBe('requestTooLarge');
});

test('lists that multiply by "*" end in an error', async () => {
  const thousand = (i: number, path: string): object => ({
    conditions: Array.from({ length: 1000 }, () => ({ '#l': echoed(i, path) })),
  });
  const { methodResponses } = await fixture.request([
    ['Core/echo', { l: Array(1000).fill(1) }, '0'],
    ['Core/echo', { filter: thousand(0, '/l') }, '1'],
    ['Core/echo', { '#l': echoed(1, '/filter/conditions/*/l') }, '2'],
  ]);
  expect(methodResponses[2]?.[1]).toMatchObject({ type: 'requestTooLarge' });
});

test('calls after the maximum response size are refused', async () => {
  const long = 'x'.repeat(9_000_000);
  const { methodResponses } = await fixture.request([
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

test('a string of nine megabytes is parsed, and duplicate names after it are found', () => {
  const long = `${'x'.repeat(9_000_000)}\\"`;
  expect(readIJson(Buffer.from(JSON.stringify({ a: long, b: '\\' })))).toEqual({ a: long, b: '\\' });
  expect(() => readIJson(Buffer.from(`{"a":"\\\\\\"","b":1,"\\u0062":2}`))).toThrow('twice');
});

test('responses share one memory with those of others; later calls that read are refused, changes are not', async () => {
  const budget = new MemoryBudget(1_000_000);
  using other = budget.open(['other']);
  const memory = budget.open(['mine']);
  expect(other.tryGrow(500_000)).toBe(true);
  const long = 'x'.repeat(200_000);
  const calls = [0, 1, 2, 3].map((n): [string, Record<string, unknown>, string] => ['Core/echo', { long }, `${n}`]);
  const set: [string, Record<string, unknown>, string] = [
    'Mailbox/set',
    { accountId: fixture.accountId, create: { a: { name: 'new' } } },
    's',
  ];
  const { methodResponses } = await fixture.request([...calls, set], undefined, memory);
  expect(methodResponses.map(([name]) => name)).toEqual(['Core/echo', 'error', 'error', 'error', 'Mailbox/set']);
  expect(methodResponses[1]?.[1]).toMatchObject({ type: 'serverUnavailable' });
  expect(budget.held).toBeLessThanOrEqual(1_000_000);
  memory[Symbol.dispose]();
  expect(budget.held).toBe(500_000);
});

test('a response in pieces is the same JSON, each piece bounded whatever its escapes', () => {
  assert(
    property(jsonValue(), (value) => {
      expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value));
    }),
    { numRuns: 300, seed: 1 },
  );
  const text = `${'\u{1f600}'.repeat(100_000)}${'\0'.repeat(1_000_000)}"\ud800`;
  const value = { list: Array.from({ length: 3 }, () => ({ text, none: undefined })), nil: [undefined, null] };
  const pieces = [...jsonPieces(value)];
  expect(pieces.join('')).toBe(JSON.stringify(value));
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(500_000);
});

test('body parts count, with header fields that they do not have', async () => {
  const text = `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n\nx\n'.repeat(990)}--b--\n`;
  const ids = [await storeTestMessage(fixture, text), await storeTestMessage(fixture, text)];
  const absent = Array.from({ length: 100 }, (_, n) => `header:X-${n}`);
  const get = { properties: ['bodyStructure', 'textBody', 'htmlBody'], bodyProperties: ['partId', ...absent] };
  expect(await fixture.call('Email/get', { ids: ids.slice(0, 1), ...get })).toMatchObject({ list: [{ id: ids[0] }] });
  expect(await fixture.refusal('Email/get', { ids, ...get })).toMatchObject({ type: 'requestTooLarge' });
});
