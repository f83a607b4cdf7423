import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../mail/jmap/core/errors.ts';
import { blobId, blobRef, jmapId, jmapRow } from '../../../mail/jmap/core/ids.ts';
import { readIJson } from '../../../mail/jmap/core/json.ts';
import { JMAP_LIMITS } from '../../../mail/jmap/core/capabilities.ts';
import { applyPatch } from '../../../mail/jmap/standard/set-properties.ts';
import { evaluate, type Invocation, readRequest, resolveReferences } from '../../../mail/jmap/core/request.ts';
import { formatCut, formatState, readState } from '../../../mail/jmap/standard/standard-changes.ts';
import { createJmapFixture } from '../../support/jmap-fixture.ts';

const octets = (text: string): Uint8Array => new TextEncoder().encode(text);
const known = new Set(['urn:ietf:params:jmap:core']);

describe('I-JSON', () => {
  test.each([
    ['not JSON', '{"a":'],
    ['two equal names', '{"a":1,"a":2}'],
    ['two equal names, one escaped', String.raw`{"a":1,"\u0061":2}`],
    ['two equal names deep inside', '{"x":[{"y":1},{"y":1,"z":{"q":1,"q":2}}]}'],
    ['half a character', String.raw`{"a":"\ud800"}`],
    ['half a character in a name', String.raw`{"\udc00":1}`],
    ['too deep', `${'['.repeat(200)}${']'.repeat(200)}`],
    ['too many values', `[${'{},'.repeat(100_000)}0]`],
    ['a text without an end', '{"a'],
    ['a name that is no text', String.raw`{"\x":1}`],
  ])('%s is refused', (_what, text) => {
    expect(() => readIJson(octets(text))).toThrow(RequestError);
  });

  test('invalid UTF-8 is refused', () => {
    expect(() => readIJson(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(RequestError);
  });

  test.each([
    ['equal names in neighbours', '[{"a":1},{"a":1}]'],
    ['a text that looks like a name', '{"a":"b\\":","b":"a"}'],
    ['a whole character', String.raw`"\ud83d\ude00"`],
    ['many values', `[${'[],'.repeat(40_000)}0]`],
    ['names with spaces before the colon', '{"a" :1,"b"\n:2}'],
  ])('%s is read', (_what, text) => {
    expect(readIJson(octets(text))).toEqual(JSON.parse(text));
  });
});

test.each([
  ['objects', (n: number) => `[${'{},'.repeat(n)}1]`],
  ['numbers', (n: number) => `[${'1,'.repeat(n)}1]`],
  ['names', (n: number) => `{${Array.from({ length: n }, (_, i) => `"${i}":1`).join(',')}}`],
])('a request of 200,000 %s is refused before it is parsed', (_what, text) => {
  const limit = { type: 'limit', limit: 'maxSizeRequest' };
  expect(() => readIJson(octets(text(200_000)))).toThrow(expect.objectContaining(limit));
  expect(() => readIJson(octets(text(20_000)))).not.toThrow();
});

test('references to many empty lists count', () => {
  const lists: Invocation = ['Core/echo', { l: Array.from({ length: 1_000 }, () => []) }, 'a'];
  const reference = { resultOf: 'a', name: 'Core/echo', path: '/l/*' };
  const args = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`#r${i}`, reference]));
  expect(resolveReferences(args(50), [lists])).toMatchObject({ r0: [], r49: [] });
  expect(() => resolveReferences(args(150), [lists])).toThrow(expect.objectContaining({ type: 'requestTooLarge' }));
});

describe('a request', () => {
  const good = { using: [...known], methodCalls: [['Core/echo', {}, 'a']] };

  test.each([
    ['an array', []],
    ['null', null],
    ['no using', { methodCalls: [] }],
    ['using of numbers', { using: [1], methodCalls: [] }],
    ['calls that are objects', { ...good, methodCalls: [{}] }],
    ['a call of two', { ...good, methodCalls: [['Core/echo', {}]] }],
    ['arguments that are an array', { ...good, methodCalls: [['Core/echo', [], 'a']] }],
    ['created ids that are no ids', { ...good, createdIds: { a: 'no id!' } }],
  ])('%s is no request', (_what, value) => {
    expect(() => readRequest(value, known, JMAP_LIMITS)).toThrow(expect.objectContaining({ type: 'notRequest' }));
  });

  test('an unknown capability is refused by name', () => {
    const value = { ...good, using: ['urn:x'] };
    expect(() => readRequest(value, known, JMAP_LIMITS)).toThrow(
      expect.objectContaining({ type: 'unknownCapability' }),
    );
  });

  test('more calls than advertised are refused', () => {
    const methodCalls = Array.from({ length: 65 }, () => good.methodCalls[0]);
    const limited = expect.objectContaining({ type: 'limit', limit: 'maxCallsInRequest' });
    expect(() => readRequest({ ...good, methodCalls }, known, JMAP_LIMITS)).toThrow(limited);
  });
});

describe('result references', () => {
  const before: Invocation[] = [
    ['Email/query', { ids: ['m1', 'm2'], nested: [{ ids: ['a'] }, { ids: ['b', 'c'] }], none: [] }, 'q'],
    ['error', { type: 'x' }, 'e'],
  ];

  test.each([
    ['/ids', ['m1', 'm2']],
    ['/ids/1', 'm2'],
    ['/ids/*', ['m1', 'm2']],
    ['/nested/*/ids', ['a', 'b', 'c']],
    ['/none/*', []],
    ['/none/*/ids', []],
    ['/ids/2', undefined],
    ['/ids/01', undefined],
    ['/missing', undefined],
    ['/__proto__', undefined],
    ['/nested/*/missing', undefined],
    ['ids', undefined],
  ])('%s', (path, found) => {
    expect(evaluate(before[0]?.[1], path)).toEqual(found);
  });

  test('each visited item counts, also one without a value in it', () => {
    const earlier: Invocation[] = [['Core/echo', { list: Array.from({ length: 20_000 }, () => []) }, 'a']];
    const reference = { resultOf: 'a', name: 'Core/echo', path: '/list/*/*' };
    expect(resolveReferences({ '#one': reference }, earlier)).toEqual({ one: [] });
    const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`#r${n}`, reference]));
    expect(() => resolveReferences(many, earlier)).toThrow(/limited to 100000 items/);
  });

  test('escapes of JSON Pointer', () => {
    expect(evaluate({ 'a/b': { '~': 1 } }, '/a~1b/~0')).toBe(1);
  });

  test('a reference is resolved in an argument and inside a filter', () => {
    const args = { '#ids': { resultOf: 'q', name: 'Email/query', path: '/ids' } };
    expect(resolveReferences(args, before)).toEqual({ ids: ['m1', 'm2'] });
    const filter = { operator: 'AND', conditions: [{ '#x': { resultOf: 'q', name: 'Email/query', path: '/ids/0' } }] };
    expect(resolveReferences({ filter }, before)).toEqual({ filter: { operator: 'AND', conditions: [{ x: 'm1' }] } });
  });

  test.each([
    ['both ways', { ids: [], '#ids': {} }, 'invalidArguments'],
    ['no such call', { '#ids': { resultOf: 'z', name: 'Email/query', path: '/ids' } }, 'invalidResultReference'],
    ['another method', { '#ids': { resultOf: 'q', name: 'Email/get', path: '/ids' } }, 'invalidResultReference'],
    ['an error', { '#ids': { resultOf: 'e', name: 'Email/query', path: '/ids' } }, 'invalidResultReference'],
    ['nothing there', { '#ids': { resultOf: 'q', name: 'Email/query', path: '/x' } }, 'invalidResultReference'],
    ['no reference', { '#ids': null }, 'invalidResultReference'],
  ])('%s is refused', (_what, args, type) => {
    expect(() => resolveReferences(args, before)).toThrow(expect.objectContaining({ type }));
  });
});

describe('ids', () => {
  test('ids round-trip, in their account only', () => {
    const row = 7 * 2 ** 32 + 1234;
    expect(jmapId('email', row)).toBe('mya');
    expect(jmapRow('email', 7, 'mya')).toBe(row);
    expect(jmapRow('email', 8, 'mya')).toBe(8 * 2 ** 32 + 1234);
    expect(jmapRow('thread', 7, 'mya')).toBeUndefined();
    for (const bad of ['', 'm', 'm0', 'm01', 'M1', 'm1!', 'mzzzzzzzzzzz', 'm1zzzzzzzzz']) {
      expect(jmapRow('email', 7, bad), bad).toBeUndefined();
    }
  });

  test('blob ids of messages, parts, uploads and nested parts round-trip', () => {
    const email = 7 * 2 ** 32 + 1;
    for (const ref of [
      { kind: 'message', email },
      { kind: 'part', email, path: '2.1' },
      { kind: 'part', email, path: '2.' },
      { kind: 'upload', upload: 5 },
      { kind: 'inner', of: { kind: 'upload', upload: 5 }, path: '1.2' },
      { kind: 'inner', of: { kind: 'inner', of: { kind: 'part', email, path: '2' }, path: '1' }, path: '3' },
    ] as const) {
      expect(blobRef(7, blobId(ref))).toEqual(ref);
    }
    for (const bad of ['m1-', 'm1-0', 'm1-1-2-3-4', 'u1-1-2-3', 'u1-', 'm1-1-a', 'm1-a', 'x1', 'm1-1/2'])
      expect(blobRef(7, bad), bad).toBeUndefined();
  });
});

describe('states', () => {
  test('there and back', () => {
    expect(readState(formatState(99))).toEqual({ modseq: 99, row: Number.POSITIVE_INFINITY, origin: 99 });
    const cut = { modseq: 99, row: 7 * 2 ** 32 + 4, origin: 12 };
    expect(readState(formatCut(cut))).toEqual(cut);
    for (const bad of ['', 'A', '1-2', '1-2-3-4', '-', '1.5', ' 1', 'zzzzzzzzzzzz'])
      expect(readState(bad), bad).toBeUndefined();
  });
});

describe('patches', () => {
  const email = { keywords: { $seen: true }, mailboxIds: { f1: true }, subject: 'x' };

  test.each([
    [{ 'keywords/$flagged': true }, { ...email, keywords: { $seen: true, $flagged: true } }],
    [{ 'keywords/$seen': null }, { ...email, keywords: {} }],
    [{ keywords: { a: true } }, { ...email, keywords: { a: true } }],
    [{ subject: null }, { ...email, subject: null }],
    [{ 'keywords/a~1b~0': true }, { ...email, keywords: { $seen: true, 'a/b~': true } }],
  ])('%j', (patch, patched) => {
    expect(applyPatch(email, patch)).toEqual({ patched });
  });

  test.each([[{ 'nothing/x': true }], [{ 'subject/x': 1 }], [{ keywords: {}, 'keywords/x': true }]])(
    '%j is none',
    (patch) => {
      expect(applyPatch(email, patch)).toHaveProperty('why');
    },
  );
});

test('the calls of a request get responses in order', async () => {
  await using fixture = await createJmapFixture();
  const { methodResponses, createdIds } = await fixture.request(
    [
      ['Core/echo', { hello: true }, 'a'],
      ['Nothing/get', {}, 'b'],
      ['Core/echo', { '#again': { resultOf: 'a', name: 'Core/echo', path: '/hello' } }, 'c'],
    ],
    { k: 'm1' },
  );
  expect(methodResponses).toEqual([
    ['Core/echo', { hello: true }, 'a'],
    ['error', expect.objectContaining({ type: 'unknownMethod' }), 'b'],
    ['Core/echo', { again: true }, 'c'],
  ]);
  expect(createdIds).toEqual({ k: 'm1' });
});
