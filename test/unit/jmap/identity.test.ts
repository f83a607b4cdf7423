import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mailParts } from '../../../mail/parts.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { type JmapWorld, worldOn } from '../../support/jmap-world.ts';
import { testAccount, testStore } from '../../support/store.ts';

const addAlias = command('test-alias', (tx, { key, account }: { key: string; account: number }, stamp) =>
  tx.run(
    `INSERT INTO address (key, domain_id, account_id, kind, created_at)
     SELECT ?, id, ?, 'alias', ? FROM domain WHERE name = 'box.test'`,
    key,
    account,
    stamp.now,
  ),
);
const dropAlias = command('test-no-alias', (tx, { key }: { key: string }) =>
  tx.run('DELETE FROM address WHERE key = ?', key),
);

let world: JmapWorld;
let other: JmapWorld;

beforeEach(async () => {
  const parts = mailParts();
  const box = await testStore({ ...parts, commands: [...parts.commands, addAlias, dropAlias] });
  world = worldOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = worldOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
});
afterEach(() => world[Symbol.asyncDispose]());

type Listed = { id: string; email: string; mayDelete: boolean; name: string }[];
const identities = async (of = world): Promise<Listed> => (await of.call('Identity/get'))['list'] as Listed;
const create = async (identity: Record<string, unknown>): Promise<Record<string, unknown>> =>
  world.call('Identity/set', { create: { k: identity } });
const idOf = (answer: Record<string, unknown>): string => (answer['created'] as { k: { id: string } }).k.id;
const why = (answer: Record<string, unknown>, which = 'notCreated', key = 'k'): unknown =>
  (answer[which] as Record<string, unknown> | null)?.[key];

describe('identities', () => {
  test('one is made for each address, with all its properties, and stays', async () => {
    const answer = await world.call('Identity/get');
    expect(answer['list']).toEqual([
      {
        id: expect.stringMatching(/^i/),
        name: '',
        email: 'me@box.test',
        replyTo: null,
        bcc: null,
        textSignature: '',
        htmlSignature: '',
        mayDelete: false,
      },
    ]);
    const [first] = await identities();
    const kept = await world.call('Identity/set', { destroy: [first?.id] });
    expect(why(kept, 'notDestroyed', first?.id)).toMatchObject({ type: 'forbidden' });
    expect(await world.call('Identity/get')).toEqual(answer);
  });

  test('an address that comes later gets one, and it goes with the address', async () => {
    const { state } = (await world.call('Identity/get')) as { state: string };
    await world.box.store.write(addAlias, { key: 'sales@box.test', account: world.account });
    const came = await world.call('Identity/changes', { sinceState: state });
    expect(came['created']).toHaveLength(1);
    expect((await identities()).map((one) => one.email)).toEqual(['me@box.test', 'sales@box.test']);
    await world.box.store.write(dropAlias, { key: 'sales@box.test' });
    const went = await world.call('Identity/changes', { sinceState: came['newState'] });
    expect(went).toMatchObject({ created: [], updated: [], destroyed: came['created'] });
    const both = await world.call('Identity/changes', { sinceState: state });
    expect(both).toMatchObject({ created: [], updated: [], destroyed: [] });
  });

  test('further ones for own addresses and their plus forms can be made, changed and destroyed', async () => {
    const { state } = (await world.call('Identity/get')) as { state: string };
    const made = await create({
      email: 'me+shop@box.test',
      name: 'Shop',
      replyTo: [{ name: null, email: 'help@elsewhere.example' }],
      textSignature: 'Bye',
    });
    const id = idOf(made);
    expect(made['created']).toMatchObject({ k: { mayDelete: true, htmlSignature: '' } });
    const updated = await world.call('Identity/set', {
      update: { [id]: { name: null, bcc: [{ email: 'a@b.example' }] } },
    });
    expect(updated).toMatchObject({ updated: { [id]: null }, oldState: made['newState'] });
    expect(updated['newState']).not.toBe(made['newState']);
    const got = (await world.call('Identity/get', { ids: [id], properties: ['name', 'bcc', 'textSignature'] }))['list'];
    expect(got).toEqual([{ id, name: '', bcc: [{ name: null, email: 'a@b.example' }], textSignature: 'Bye' }]);
    expect(await world.call('Identity/changes', { sinceState: state })).toMatchObject({ created: [id], updated: [] });
    const known = await world.call('Identity/changes', { sinceState: made['newState'] });
    expect(known).toMatchObject({ created: [], updated: [id], destroyed: [] });
    const gone = await world.call('Identity/set', { destroy: [id, 'i999'] });
    expect(gone['destroyed']).toEqual([id]);
    expect(why(gone, 'notDestroyed', 'i999')).toMatchObject({ type: 'notFound' });
  });

  test.each([
    ['another account’s address', { email: 'you@box.test' }, { type: 'forbiddenFrom' }],
    ['an address elsewhere', { email: 'me@elsewhere.example' }, { type: 'forbiddenFrom' }],
    ['a whole domain', { email: '*@box.test' }, { type: 'forbiddenFrom' }],
    ['no address', { email: 'me' }, { type: 'invalidProperties', properties: ['email'] }],
    ['nothing', {}, { type: 'invalidProperties', properties: ['email'] }],
    [
      'wrong types',
      { email: 'me@box.test', name: 1, bcc: 'x', mayDelete: true },
      { type: 'invalidProperties', properties: ['mayDelete', 'name', 'bcc'] },
    ],
    ['a name without an end', { email: 'me@box.test', name: 'x'.repeat(256) }, { properties: ['name'] }],
    [
      'addresses that are none',
      { email: 'me@box.test', replyTo: [{ email: 'nobody' }] },
      { type: 'invalidProperties', properties: ['replyTo'] },
    ],
  ])('one of %s is refused', async (_what, identity, error) => {
    const answer = await create(identity);
    expect(answer['created']).toBeNull();
    expect(why(answer)).toMatchObject({ ...error, description: expect.any(String) });
  });

  test('its address never changes, and a patch must be one', async () => {
    const id = idOf(await create({ email: 'me+a@box.test', replyTo: [{ name: 'x', email: 'x@y.example' }] }));
    const patched = async (patch: Record<string, unknown>): Promise<unknown> =>
      why(await world.call('Identity/set', { update: { [id]: patch } }), 'notUpdated', id);
    expect(await patched({ email: 'me+b@box.test' })).toMatchObject({
      type: 'invalidProperties',
      properties: ['email'],
    });
    expect(await patched({ email: 'me+a@box.test', name: 'same' })).toBeUndefined();
    expect(await patched({ 'replyTo/0/name': 'y' })).toMatchObject({ type: 'invalidPatch' });
    expect(await patched({ colour: 'red' })).toMatchObject({ type: 'invalidProperties', properties: ['colour'] });
  });

  test('those of another account are as those that never were', async () => {
    const [theirs] = await identities(other);
    const [mine] = await identities();
    const never = 'i9zz';
    const answer = await world.call('Identity/get', { ids: [theirs?.id, never] });
    expect(answer).toMatchObject({ list: [], notFound: [theirs?.id, never] });
    const set = await world.call('Identity/set', { destroy: [theirs?.id, never], update: {} });
    const errors = set['notDestroyed'] as Record<string, { description: string }>;
    expect(JSON.stringify(errors[theirs?.id ?? '']).replaceAll(theirs?.id ?? '', '')).toBe(
      JSON.stringify(errors[never]).replaceAll(never, ''),
    );
    expect(await identities(other)).toEqual([theirs]);
    expect(mine?.id).not.toBe(theirs?.id);
  });

  test('changes come in pieces that lead to the same end', async () => {
    const { state } = (await world.call('Identity/get')) as { state: string };
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(idOf(await create({ email: `me+${i}@box.test` })));
    await world.call('Identity/set', { update: { [ids[0] ?? '']: { name: 'later' } }, destroy: [ids[1]] });
    const seen = new Set<string>();
    let since = state;
    for (let more = true; more;) {
      const piece = await world.call('Identity/changes', { sinceState: since, maxChanges: 2 });
      expect(piece['oldState']).toBe(since);
      for (const id of piece['created'] as string[]) seen.add(id);
      expect(piece['updated']).toEqual([]);
      more = piece['hasMoreChanges'] as boolean;
      since = piece['newState'] as string;
    }
    expect([...seen].sort()).toEqual(ids.filter((_id, i) => i !== 1).sort());
    const end = await world.call('Identity/get');
    expect(since).toBe(end['state']);
  });

  test.each(['zzzzzz', 'not a state'])('the state %j is refused', async (sinceState) => {
    expect(await world.refusal('Identity/changes', { sinceState })).toMatchObject({ type: 'cannotCalculateChanges' });
  });
});
