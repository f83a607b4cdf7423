import { beforeEach, expect, test } from 'vitest';
import type { FindOrder, FindOutcome } from '../../../mail/imap/search/find-order.ts';
import { OrderCache } from '../../../mail/imap/search/order-cache.ts';

const UIDS = Uint32Array.of(1, 2, 5);
const OTHERS = [Uint32Array.of(1, 2), Uint32Array.of(1, 2, 6), Uint32Array.of(1, 2, 5, 6)];

function sortBy(by: 'SUBJECT' | 'FROM' | 'RELEVANCY', reverse = false, scores = new Map<number, number>()): FindOrder {
  return { kind: 'sort', keys: [{ by, reverse }], scores };
}

function thread(algorithm: 'REFERENCES' | 'REFS', known?: Uint32Array): FindOrder {
  return { kind: 'thread', algorithm, known };
}

const sorted = (): FindOutcome => ({ kind: 'found', uids: Uint32Array.of(5, 1, 2) });
const threads: FindOutcome = { kind: 'threads', text: '(1 2)(5)' };

let cache: OrderCache;

beforeEach(() => {
  cache = new OrderCache();
  cache.keep(UIDS, sortBy('SUBJECT'), sorted());
  cache.keep(UIDS, thread('REFERENCES'), threads);
});

test('the same messages in the same order need no second computation', () => {
  expect(cache.find(UIDS.slice(), sortBy('SUBJECT'))).toEqual(sorted());
  expect(cache.find(UIDS.slice(), thread('REFERENCES'))).toEqual(threads);
});

test.each(OTHERS)('other messages are computed: %j', (...uids) => {
  expect(cache.find(Uint32Array.from(uids), sortBy('SUBJECT'))).toBeUndefined();
  expect(cache.find(Uint32Array.from(uids), thread('REFERENCES'))).toBeUndefined();
});

test.each([
  ['of another key', sortBy('FROM')],
  ['in reverse', sortBy('SUBJECT', true)],
  ['of two keys', { kind: 'sort', keys: ['SUBJECT', 'FROM'].map((by) => ({ by, reverse: false })), scores: new Map() }],
  ['by relevance', sortBy('SUBJECT', false, new Map([[1, 0.5]]))],
  ['of threads by another algorithm', thread('REFS')],
  ['of threads with sequence numbers', thread('REFERENCES', UIDS)],
] as [string, FindOrder][])('an order %s is computed', (_, order) => {
  expect(cache.find(UIDS, order)).toBeUndefined();
});

test('an order by relevance is not kept, since scores change', () => {
  const scores = new Map([[1, 0.5]]);
  cache.keep(UIDS, sortBy('RELEVANCY', false, scores), sorted());
  expect(cache.find(UIDS, sortBy('RELEVANCY', false, scores))).toBeUndefined();
  expect(cache.find(UIDS, sortBy('RELEVANCY'))).toBeUndefined();
});

test('sequence numbers of a view that grows belong to other threads', () => {
  const known = Uint32Array.of(1, 2, 5, 0);
  cache.keep(UIDS, thread('REFS', known.subarray(0, 3)), threads);
  known[3] = 9;
  expect(cache.find(UIDS, thread('REFS', known.subarray(0, 3)))).toEqual(threads);
  expect(cache.find(UIDS, thread('REFS', known))).toBeUndefined();
});

test('a caller that changes its list changes no later result', () => {
  for (let n = 0; n < 2; n++) {
    const outcome = cache.find(UIDS, sortBy('SUBJECT'));
    expect(outcome).toEqual(sorted());
    if (outcome?.kind === 'found') outcome.uids.fill(0);
  }
});

test('four orders are kept, those that were used last', () => {
  for (const by of ['FROM', 'RELEVANCY'] as const) cache.keep(UIDS, sortBy(by), sorted());
  cache.find(UIDS, sortBy('SUBJECT'));
  cache.keep(UIDS, sortBy('FROM', true), sorted());
  expect(cache.find(UIDS, sortBy('SUBJECT'))).toEqual(sorted());
  expect(cache.find(UIDS, thread('REFERENCES'))).toBeUndefined();
  expect(cache.octets).toBeGreaterThan(0);
});
