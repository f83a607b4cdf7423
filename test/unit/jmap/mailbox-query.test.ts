import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type JmapFixture, createJmapFixture } from '../../support/jmap-fixture.ts';

let fixture: JmapFixture;
/** Mailbox names by id. */
let names: Map<string, string>;

beforeAll(async () => {
  fixture = await createJmapFixture();
  await fixture.call('Mailbox/set', {
    create: {
      b: { name: 'Beta', sortOrder: 2 },
      a: { name: 'alpha', sortOrder: 1, isSubscribed: false },
      b2: { name: 'zwei', parentId: '#b', sortOrder: 1 },
      b1: { name: 'Eins', parentId: '#b' },
      deep: { name: 'tief', parentId: '#b1', isSubscribed: false },
    },
  });
  const { list } = await fixture.call('Mailbox/get', { properties: ['name'] });
  names = new Map((list as { id: string; name: string }[]).map((one) => [one.id, one.name]));
});

afterAll(() => fixture[Symbol.asyncDispose]());

const idOf = (name: string): string => [...names].find(([, one]) => one === name)?.[0] ?? 'f9999';

async function found(args: Record<string, unknown>): Promise<string[]> {
  const { ids } = await fixture.call('Mailbox/query', args);
  return (ids as string[]).map((id) => names.get(id) ?? id);
}

const byName = [{ property: 'name' }];

describe('Mailbox/query', () => {
  test('without filter and sort all mailboxes are returned in order of creation', async () => {
    const { total, position, queryState, canCalculateChanges } = await fixture.call('Mailbox/query', {
      calculateTotal: true,
    });
    const { state } = await fixture.call('Mailbox/get', { ids: [] });
    expect({ total, position, queryState, canCalculateChanges }).toEqual({
      total: 11,
      position: 0,
      queryState: state,
      canCalculateChanges: true,
    });
  });

  test('filters', async () => {
    expect(await found({ filter: { role: 'trash' } })).toEqual(['Trash']);
    expect(await found({ filter: { role: null }, sort: byName })).toEqual(['alpha', 'Beta', 'Eins', 'tief', 'zwei']);
    expect(await found({ filter: { hasAnyRole: true, name: 'AR' } })).toEqual(['Archive']);
    expect(await found({ filter: { isSubscribed: false }, sort: byName })).toEqual(['alpha', 'tief']);
    expect(await found({ filter: { parentId: idOf('Beta') }, sort: byName })).toEqual(['Eins', 'zwei']);
    expect(await found({ filter: { parentId: null, hasAnyRole: false }, sort: byName })).toEqual(['alpha', 'Beta']);
    expect(await found({ filter: { parentId: 'f9999' } })).toEqual([]);
    expect(await found({ filter: {} })).toHaveLength(11);
  });

  test('operators', async () => {
    const conditions = [{ name: 'alpha' }, { name: 'Beta' }];
    expect(await found({ filter: { operator: 'OR', conditions }, sort: byName })).toEqual(['alpha', 'Beta']);
    expect(await found({ filter: { operator: 'AND', conditions } })).toEqual([]);
    expect(
      await found({ filter: { operator: 'NOT', conditions: [{ hasAnyRole: true }, ...conditions] } }),
    ).toHaveLength(3);
  });

  test('sorts', async () => {
    const filter = { hasAnyRole: false };
    const sort = [
      { property: 'sortOrder', isAscending: false },
      { property: 'name', isAscending: false },
    ];
    expect(await found({ filter, sort })).toEqual(['Beta', 'zwei', 'alpha', 'tief', 'Eins']);
    expect(await found({ filter, sort: [{ property: 'parentId' }, { property: 'name' }] })).toEqual([
      'alpha',
      'Beta',
      'Eins',
      'zwei',
      'tief',
    ]);
  });

  test('as a tree', async () => {
    const tree = { filter: { hasAnyRole: false }, sort: byName, sortAsTree: true };
    expect(await found(tree)).toEqual(['alpha', 'Beta', 'Eins', 'tief', 'zwei']);
    const backwards = [{ property: 'name', isAscending: false }];
    expect(await found({ ...tree, sort: backwards })).toEqual(['Beta', 'zwei', 'Eins', 'tief', 'alpha']);
    const filter = { operator: 'NOT', conditions: [{ name: 'Eins' }] };
    expect(await found({ filter, sort: byName, filterAsTree: true })).not.toContain('tief');
    expect(await found({ filter, sort: byName })).toContain('tief');
  });

  test('parts of a result', async () => {
    const all = await found({ sort: byName });
    expect(await found({ sort: byName, position: 2, limit: 3 })).toEqual(all.slice(2, 5));
    expect(await found({ sort: byName, position: -2 })).toEqual(all.slice(-2));
    expect(await found({ sort: byName, position: -99, limit: 1 })).toEqual(all.slice(0, 1));
    expect(await found({ sort: byName, position: 99 })).toEqual([]);
    const anchor = idOf(all[4] ?? '');
    expect(await found({ sort: byName, anchor, anchorOffset: -1, limit: 2 })).toEqual(all.slice(3, 5));
    expect(await found({ sort: byName, anchor, anchorOffset: -99, limit: 1 })).toEqual(all.slice(0, 1));
    expect(await fixture.call('Mailbox/query', { limit: 0 })).toMatchObject({ ids: [] });
    expect(await fixture.refusal('Mailbox/query', { anchor: 'f9999' })).toMatchObject({ type: 'anchorNotFound' });
  });

  test('unknown conditions and properties are refused by name', async () => {
    const refused: [Record<string, unknown>, string][] = [
      [{ filter: { colour: 'red' } }, 'unsupportedFilter'],
      [{ filter: { name: 7 } }, 'invalidArguments'],
      [{ filter: { operator: 'XOR', conditions: [] } }, 'invalidArguments'],
      [{ filter: { operator: 'AND' } }, 'invalidArguments'],
      [{ filter: { operator: 'AND', conditions: Array.from({ length: 300 }, () => ({})) } }, 'unsupportedFilter'],
      [{ sort: [{ property: 'totalEmails' }] }, 'unsupportedSort'],
      [{ sort: [{ property: 'name', collation: 'i;klingon' }] }, 'unsupportedSort'],
      [{ sort: 'name' }, 'invalidArguments'],
      [{ limit: -1 }, 'invalidArguments'],
      [{ colour: 'red' }, 'invalidArguments'],
    ];
    for (const [args, type] of refused) {
      expect(await fixture.refusal('Mailbox/query', args), JSON.stringify(args).slice(0, 80)).toMatchObject({ type });
    }
    expect(await fixture.refusal('Mailbox/query', { accountId: 'mbx_999' })).toMatchObject({ type: 'accountNotFound' });
  });
});

/** Applies a /queryChanges response as a client does. RFC 8620 5.6. */
function applied(old: readonly string[], told: Record<string, unknown>): string[] {
  const removed = new Set(told['removed'] as string[]);
  const now = old.filter((id) => !removed.has(id));
  for (const { id, index } of told['added'] as { id: string; index: number }[]) now.splice(index, 0, id);
  return now;
}

describe('Mailbox/queryChanges', () => {
  const queries: Record<string, unknown>[] = [
    { sort: byName },
    { sort: [{ property: 'sortOrder' }], filter: { isSubscribed: true } },
    { sort: byName, sortAsTree: true },
    { sort: byName, sortAsTree: true, filterAsTree: true, filter: { operator: 'NOT', conditions: [{ name: 'Beta' }] } },
    { filter: { hasAnyRole: false } },
  ];

  test('brings old results up to date', async () => {
    await using own = await createJmapFixture();
    const made = await own.call('Mailbox/set', {
      create: {
        a: { name: 'Beta' },
        b: { name: 'b', parentId: '#a' },
        c: { name: 'c', parentId: '#b' },
        d: { name: 'd' },
      },
    });
    const id = (key: string): string => (made['created'] as Record<string, { id: string }>)[key]?.id ?? '';
    const changes: Record<string, unknown>[] = [
      { update: { [id('a')]: { name: 'alpha', sortOrder: 3 } } },
      { update: { [id('b')]: { parentId: id('d'), isSubscribed: false } } },
      { create: { e: { name: 'Beta', parentId: id('d') } }, destroy: [id('a')] },
      { update: { [id('c')]: { parentId: null, name: 'Beta' } } },
      { destroy: [id('c')] },
    ];
    const old: { query: Record<string, unknown>; ids: string[]; state: unknown }[] = [];
    const ask = async (query: Record<string, unknown>): Promise<{ ids: string[]; state: unknown }> => {
      const { ids, queryState } = await own.call('Mailbox/query', query);
      return { ids: ids as string[], state: queryState };
    };
    for (const change of [{}, ...changes]) {
      await own.call('Mailbox/set', change);
      for (const query of queries) old.push({ query, ...(await ask(query)) });
    }
    for (const { query, ids, state } of old) {
      const told = await own.call('Mailbox/queryChanges', { ...query, sinceQueryState: state, calculateTotal: true });
      const now = await ask(query);
      expect(applied(ids, told)).toEqual(now.ids);
      expect(told).toMatchObject({ oldQueryState: state, newQueryState: now.state, total: now.ids.length });
    }
  });

  test('changed counters do not change a result', async () => {
    const { queryState } = await fixture.call('Mailbox/query', {});
    const told = await fixture.call('Mailbox/queryChanges', { sinceQueryState: queryState });
    expect(told).toMatchObject({ removed: [], added: [] });
  });

  test('more changes than maxChanges, and invalid states', async () => {
    const { queryState } = await fixture.call('Mailbox/query', {});
    await fixture.call('Mailbox/set', { create: { x: { name: 'x1' }, y: { name: 'y1' } } });
    expect(await fixture.refusal('Mailbox/queryChanges', { sinceQueryState: queryState, maxChanges: 1 })).toMatchObject(
      {
        type: 'tooManyChanges',
      },
    );
    for (const sinceQueryState of ['?', 'zzzzzz', '1-1-1']) {
      expect(await fixture.refusal('Mailbox/queryChanges', { sinceQueryState })).toMatchObject({
        type: 'cannotCalculateChanges',
      });
    }
  });
});
