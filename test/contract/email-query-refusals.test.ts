import { expect, test } from 'vitest';
import { EMAIL_SORTS } from '../../mail/jmap/email-query/email-sort.ts';
import { type JmapFixture, createJmapFixture, jmapFixtureOn } from '../support/jmap-fixture.ts';
import { Garden } from '../support/mail-garden.ts';
import { testAccount } from '../support/store.ts';

const nested = (depth: number): unknown =>
  depth === 0 ? { subject: 'x' } : { operator: 'NOT', conditions: [nested(depth - 1)] };

const REFUSED: [Record<string, unknown>, string][] = [
  [{ filter: { nonsense: 1 } }, 'unsupportedFilter'],
  [{ filter: { constructor: 1 } }, 'unsupportedFilter'],
  [{ filter: nested(21) }, 'unsupportedFilter'],
  [
    { filter: { operator: 'OR', conditions: Array.from({ length: 250 }, () => ({ minSize: 1 })) } },
    'unsupportedFilter',
  ],
  [{ filter: { text: 'x'.repeat(2000) } }, 'unsupportedFilter'],
  [
    { filter: { operator: 'OR', conditions: Array.from({ length: 21 }, () => ({ subject: 'x' })) } },
    'unsupportedFilter',
  ],
  [{ filter: { operator: 'XOR', conditions: [] } }, 'invalidArguments'],
  [{ filter: { operator: 'AND' } }, 'invalidArguments'],
  [{ filter: { operator: 'AND', conditions: [], more: 1 } }, 'invalidArguments'],
  [{ filter: 'text' }, 'invalidArguments'],
  [{ filter: { before: 'yesterday' } }, 'invalidArguments'],
  [{ filter: { before: '2026-01-01T00:00:00+01:00' } }, 'invalidArguments'],
  [{ filter: { minSize: -1 } }, 'invalidArguments'],
  [{ filter: { hasKeyword: 'two words' } }, 'invalidArguments'],
  [{ filter: { hasAttachment: 1 } }, 'invalidArguments'],
  [{ filter: { header: [] } }, 'invalidArguments'],
  [{ filter: { header: ['a', 'b', 'c'] } }, 'invalidArguments'],
  [{ filter: { header: ['not a name'] } }, 'invalidArguments'],
  [{ filter: { inMailbox: 7 } }, 'invalidArguments'],
  [{ sort: [{ property: 'id' }] }, 'unsupportedSort'],
  [{ sort: [{ property: 'subject', collation: 'i;octet' }] }, 'unsupportedSort'],
  [{ sort: Array.from({ length: 21 }, () => ({ property: 'size' })) }, 'unsupportedSort'],
  [{ sort: [{ property: 'hasKeyword' }] }, 'invalidArguments'],
  [{ sort: [{ property: 'size', keyword: '$seen' }] }, 'invalidArguments'],
  [{ sort: 'size' }, 'invalidArguments'],
  [{ limit: -1 }, 'invalidArguments'],
  [{ position: 1.5 }, 'invalidArguments'],
  [{ anchor: 'm1' }, 'anchorNotFound'],
  [{ anchor: 'f1' }, 'anchorNotFound'],
  [{ collapseThreads: null }, 'invalidArguments'],
  [{ unknown: 1 }, 'invalidArguments'],
];

test('what cannot be answered is refused by its name, with a sentence', async () => {
  await using world = await createJmapFixture();
  for (const [args, type] of REFUSED) {
    const refused = await world.refusal('Email/query', args);
    expect(refused['type'], JSON.stringify(args).slice(0, 200)).toBe(type);
    expect(refused['description']).toMatch(/^.+[.]$/s);
  }
});

test('what is nothing is found nowhere, and everything where nothing is asked', async () => {
  await using world = await createJmapFixture();
  const garden = await Garden.plant(world);
  const spec = { subject: 's', from: 'a@box.test', to: 'b@box.test', body: 'b', sentAt: 1e12, receivedAt: 1e12 };
  await garden.append(spec, world.inbox);
  const count = async (filter: unknown): Promise<number> => (await idsOf(world, filter)).length;
  for (const all of [null, {}, { text: '' }, { text: '  ' }, { operator: 'AND', conditions: [] }]) {
    expect(await count(all)).toBe(1);
  }
  expect(await count({ operator: 'NOT', conditions: [] })).toBe(1);
  for (const none of [{ text: '!?' }, { inMailbox: 'f999' }, { operator: 'OR', conditions: [] }]) {
    expect(await count(none)).toBe(0);
  }
});

test('nobody finds what is in the account of another', async () => {
  await using world = await createJmapFixture();
  const other = await testAccount(world.box.store, 'other');
  const theirs = jmapFixtureOn(world.box, { ...other, address: 'other@box.test' });
  const garden = await Garden.plant(world);
  const spec = { subject: 'secret', from: 'a@box.test', to: 'b@box.test', body: 'b', sentAt: 1e12, receivedAt: 1e12 };
  await garden.append(spec, world.inbox);
  const mine = `f${world.inbox.toString(36)}`;
  for (const filter of [
    null,
    { text: 'secret' },
    { inMailbox: mine },
    { inMailboxOtherThan: [] },
    { header: ['subject'] },
  ]) {
    expect(await idsOf(world, filter)).toHaveLength(1);
    expect(await idsOf(theirs, filter)).toEqual([]);
  }
  const foreign = await theirs.call('Email/query', { filter: { inMailbox: mine }, calculateTotal: true });
  const missing = await theirs.call('Email/query', { filter: { inMailbox: 'f9zz' }, calculateTotal: true });
  expect(foreign).toEqual(missing);
});

test('every sort and collation that is advertised is understood', async () => {
  await using world = await createJmapFixture();
  for (const property of EMAIL_SORTS) {
    for (const collation of ['i;ascii-casemap', 'i;unicode-casemap']) {
      const sort = [{ property, collation, ...(property.endsWith('Keyword') && { keyword: '$seen' }) }];
      expect(await world.call('Email/query', { sort })).toMatchObject({ ids: [] });
    }
  }
});

test('a limit that is ours is reported', async () => {
  await using world = await createJmapFixture();
  expect(await world.call('Email/query', { limit: 9000 })).toMatchObject({ limit: 5000 });
  expect(await world.call('Email/query', { limit: 9 })).not.toHaveProperty('limit');
  expect(await world.call('Email/query', {})).not.toHaveProperty('total');
});

async function idsOf(world: JmapFixture, filter: unknown): Promise<string[]> {
  return (await world.call('Email/query', { filter }))['ids'] as string[];
}
