import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mailParts } from '../../../mail/store-thread-parts.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { receiveMessage, testBackend } from '../../support/receive-message.ts';
import { type JmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
import { testAccount, testStore } from '../../support/store.ts';

const limit = command('test-limit', (tx, input: { account: number; bytes: number | null; count: number | null }) =>
  tx.run('UPDATE account SET quota_bytes = ?, quota_count = ? WHERE id = ?', input.bytes, input.count, input.account),
);

let fixture: JmapFixture;
let other: JmapFixture;

beforeAll(async () => {
  const parts = mailParts();
  const box = await testStore({ ...parts, commands: [...parts.commands, limit] });
  fixture = jmapFixtureOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = jmapFixtureOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
  await box.store.write(limit, { account: fixture.account, bytes: 1_000_000, count: 100 });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const receive = (): Promise<unknown> =>
  receiveMessage(testBackend(fixture.box), {
    from: 'a@remote.example',
    to: 'me@box.test',
    body: 'From: a@remote.example\n\nx',
  });

describe('quotas', () => {
  test('have the limits of the account and the usage', async () => {
    await receive();
    const { list } = await fixture.call('Quota/get');
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
    expect(await fixture.call('Quota/get', { ids: ['messages', 'x'], properties: ['used'] })).toMatchObject({
      list: [{ id: 'messages', used: 1 }],
      notFound: ['x'],
    });
  });

  test('an account without limits has none', async () => {
    expect(await other.call('Quota/get', { ids: ['storage'] })).toMatchObject({ list: [], notFound: ['storage'] });
    expect((await other.call('Quota/query'))['ids']).toEqual([]);
  });

  test('change with new mail', async () => {
    const { state } = (await fixture.call('Quota/get')) as { state: string };
    expect(await fixture.call('Quota/changes', { sinceState: state })).toMatchObject({ updated: [], newState: state });
    await receive();
    const changes = await fixture.call('Quota/changes', { sinceState: state });
    expect(changes).toMatchObject({ oldState: state, created: [], destroyed: [], updatedProperties: null });
    expect(changes['updated']).toEqual(['storage', 'messages']);
    expect(changes['newState']).not.toBe(state);
    const refused = await fixture.refusal('Quota/changes', { sinceState: state, maxChanges: 1 });
    expect(refused).toMatchObject({ type: 'cannotCalculateChanges' });
    const queried = { sinceQueryState: state, filter: { resourceType: 'count' } };
    expect(await fixture.call('Quota/queryChanges', queried)).toMatchObject({
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
  ])('are found by %j', async (queried, ids) => {
    expect((await fixture.call('Quota/query', queried))['ids']).toEqual(ids);
  });

  test('a state of the future is refused', async () => {
    for (const [name, args] of [
      ['Quota/changes', { sinceState: 'zzzzz' }],
      ['Quota/queryChanges', { sinceQueryState: 'zzzzz' }],
    ] as const)
      expect(await fixture.refusal(name, args)).toMatchObject({ type: 'cannotCalculateChanges' });
  });
});
