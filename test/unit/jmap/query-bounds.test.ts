import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createJmapFixture, type JmapFixture } from '../../support/jmap-fixture.ts';

let fixture: JmapFixture;
beforeAll(async () => {
  fixture = await createJmapFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** A condition and a sort property of each type. */
const QUERIES = [
  ['Email/query', { hasKeyword: '$seen' }, 'receivedAt'],
  ['Mailbox/query', { name: 'a' }, 'name'],
  ['EmailSubmission/query', { undoStatus: 'final' }, 'sentAt'],
  ['Quota/query', { name: 'a' }, 'name'],
] as const;

describe.each(QUERIES)('%s', (method, condition, property) => {
  const filter = (parts: number): object => ({ operator: 'OR', conditions: Array(parts - 1).fill(condition) });

  test('evaluates a bounded number of conditions for each object', async () => {
    expect(await fixture.call(method, { filter: filter(200) })).toMatchObject({ ids: expect.any(Array) as unknown[] });
    expect((await fixture.refusal(method, { filter: filter(201) }))['type']).toBe('unsupportedFilter');
    const nested = { operator: 'AND', conditions: [filter(100), filter(101)] };
    expect((await fixture.refusal(method, { filter: nested }))['type']).toBe('unsupportedFilter');
  });

  test('compares by a bounded number of properties', async () => {
    expect(await fixture.call(method, { sort: [{ property }] })).toMatchObject({ ids: expect.any(Array) as unknown[] });
    const sort = Array.from({ length: 21 }, () => ({ property }));
    expect((await fixture.refusal(method, { sort }))['type']).toBe('unsupportedSort');
  });
});
