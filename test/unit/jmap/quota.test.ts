import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mailParts } from '../../../mail/parts.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { arrive, testIntake } from '../../support/arrivals.ts';
import { type JmapWorld, worldOn } from '../../support/jmap-world.ts';
import { testAccount, testStore } from '../../support/store.ts';

const limit = command('test-limit', (tx, input: { account: number; bytes: number | null; count: number | null }) =>
  tx.run('UPDATE account SET quota_bytes = ?, quota_count = ? WHERE id = ?', input.bytes, input.count, input.account),
);

let world: JmapWorld;
let other: JmapWorld;

beforeAll(async () => {
  const parts = mailParts();
  const box = await testStore({ ...parts, commands: [...parts.commands, limit] });
  world = worldOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = worldOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  await box.store.write(limit, { account: world.account, bytes: 1_000_000, count: 100 });
});
afterAll(() => world[Symbol.asyncDispose]());

const receive = (): Promise<unknown> =>
  arrive(testIntake(world.box), { from: 'a@remote.example', to: 'me@box.test', body: 'From: a@remote.example\n\nx' });

describe('quotas', () => {
  test('are the limits of the account, with what is used', async () => {
    await receive();
    const { list } = await world.call('Quota/get');
    expect(list).toEqual([
      {
        id: 'storage',
        resourceType: 'octets',
        used: expect.any(Number),
        hardLimit: 1_000_000,
        scope: 'account',
        name: 'storage',
        types: ['Email'],
        warnLimit: null,
        softLimit: null,
        description: expect.any(String),
      },
      expect.objectContaining({ id: 'messages', resourceType: 'count', used: 1, hardLimit: 100 }),
    ]);
    expect(await world.call('Quota/get', { ids: ['messages', 'x'], properties: ['used'] })).toMatchObject({
      list: [{ id: 'messages', used: 1 }],
      notFound: ['x'],
    });
  });

  test('an account without limits has none', async () => {
    expect(await other.call('Quota/get', { ids: ['storage'] })).toMatchObject({ list: [], notFound: ['storage'] });
    expect((await other.call('Quota/query'))['ids']).toEqual([]);
  });

  test('change with what arrives', async () => {
    const { state } = (await world.call('Quota/get')) as { state: string };
    expect(await world.call('Quota/changes', { sinceState: state })).toMatchObject({ updated: [], newState: state });
    await receive();
    const changes = await world.call('Quota/changes', { sinceState: state });
    expect(changes).toMatchObject({ oldState: state, created: [], destroyed: [], updatedProperties: null });
    expect(changes['updated']).toEqual(['storage', 'messages']);
    expect(changes['newState']).not.toBe(state);
    const refused = await world.refusal('Quota/changes', { sinceState: state, maxChanges: 1 });
    expect(refused).toMatchObject({ type: 'cannotCalculateChanges' });
    const asked = { sinceQueryState: state, filter: { resourceType: 'count' } };
    expect(await world.call('Quota/queryChanges', asked)).toMatchObject({
      removed: ['storage', 'messages'],
      added: [{ id: 'messages', index: 0 }],
    });
  });

  test.each([
    [{ filter: { name: 'STOR' } }, ['storage']],
    [{ filter: { scope: 'global' } }, []],
    [{ filter: { resourceType: 'count' } }, ['messages']],
    [{ filter: { type: 'Email' }, sort: [{ property: 'used' }] }, ['messages', 'storage']],
    [{ sort: [{ property: 'name', isAscending: false }] }, ['storage', 'messages']],
    [{ filter: { operator: 'NOT', conditions: [{ type: 'Email' }] } }, []],
  ])('are found by %j', async (asked, ids) => {
    expect((await world.call('Quota/query', asked))['ids']).toEqual(ids);
  });

  test('a state of the future is refused', async () => {
    for (const [name, args] of [
      ['Quota/changes', { sinceState: 'zzzzz' }],
      ['Quota/queryChanges', { sinceQueryState: 'zzzzz' }],
    ] as const)
      expect(await world.refusal(name, args)).toMatchObject({ type: 'cannotCalculateChanges' });
  });
});
