import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { mailParts } from '../../../mail/store-thread-parts.ts';
import { command } from '../../../mail/store/engine/types.ts';
import { type JmapFixture, jmapFixtureOn } from '../../support/jmap-fixture.ts';
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

let fixture: JmapFixture;
let other: JmapFixture;

beforeEach(async () => {
  const parts = mailParts();
  const box = await testStore({ ...parts, commands: [...parts.commands, addAlias, dropAlias] });
  fixture = jmapFixtureOn(box, { ...(await testAccount(box.store)), address: 'me@box.test' });
  other = jmapFixtureOn(box, { ...(await testAccount(box.store, 'you')), address: 'you@box.test' });
});
afterEach(() => fixture[Symbol.asyncDispose]());

type Listed = { id: string; email: string; mayDelete: boolean; name: string }[];
const identities = async (of = fixture): Promise<Listed> => (await of.call('Identity/get'))['list'] as Listed;
const create = async (identity: Record<string, unknown>): Promise<Record<string, unknown>> =>
  fixture.call('Identity/set', { create: { k: identity } });
const idOf = (answer: Record<string, unknown>): string => (answer['created'] as { k: { id: string } }).k.id;
const why = (answer: Record<string, unknown>, which = 'notCreated', key = 'k'): unknown =>
  (answer[which] as Record<string, unknown> | null)?.[key];

describe('identities', () => {
  test('each address gets an identity with all properties, and keeps it', async () => {
    const answer = await fixture.call('Identity/get');
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
    const kept = await fixture.call('Identity/set', { destroy: [first?.id] });
    expect(why(kept, 'notDestroyed', first?.id)).toMatchObject({ type: 'forbidden' });
    expect(await fixture.call('Identity/get')).toEqual(answer);
  });

  test('an address added later gets an identity, which is deleted with the address', async () => {
    const { state } = (await fixture.call('Identity/get')) as { state: string };
    await fixture.box.store.write(addAlias, { key: 'sales@box.test', account: fixture.account });
    const came = await fixture.call('Identity/changes', { sinceState: state });
    expect(came['created']).toHaveLength(1);
    expect((await identities()).map((one) => one.email)).toEqual(['me@box.test', 'sales@box.test']);
    await fixture.box.store.write(dropAlias, { key: 'sales@box.test' });
    const went = await fixture.call('Identity/changes', { sinceState: came['newState'] });
    expect(went).toMatchObject({ created: [], updated: [], destroyed: came['created'] });
    const both = await fixture.call('Identity/changes', { sinceState: state });
    expect(both).toMatchObject({ created: [], updated: [], destroyed: [] });
  });

  test('further identities for own and plus addresses can be created, changed and destroyed', async () => {
    const { state } = (await fixture.call('Identity/get')) as { state: string };
    const made = await create({
      email: 'me+shop@box.test',
      name: 'Shop',
      replyTo: [{ name: null, email: 'help@elsewhere.example' }],
      textSignature: 'Bye',
    });
    const id = idOf(made);
    expect(made['created']).toMatchObject({ k: { mayDelete: true, htmlSignature: '' } });
    const updated = await fixture.call('Identity/set', {
      update: { [id]: { name: null, bcc: [{ email: 'a@b.example' }] } },
    });
    expect(updated).toMatchObject({ updated: { [id]: null }, oldState: made['newState'] });
    expect(updated['newState']).not.toBe(made['newState']);
    const got = (await fixture.call('Identity/get', { ids: [id], properties: ['name', 'bcc', 'textSignature'] }))[
      'list'
    ];
    expect(got).toEqual([{ id, name: '', bcc: [{ name: null, email: 'a@b.example' }], textSignature: 'Bye' }]);
    expect(await fixture.call('Identity/changes', { sinceState: state })).toMatchObject({ created: [id], updated: [] });
    const known = await fixture.call('Identity/changes', { sinceState: made['newState'] });
    expect(known).toMatchObject({ created: [], updated: [id], destroyed: [] });
    const gone = await fixture.call('Identity/set', { destroy: [id, 'i999'] });
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

  test('the email property cannot be changed, and an invalid patch is refused', async () => {
    const id = idOf(await create({ email: 'me+a@box.test', replyTo: [{ name: 'x', email: 'x@y.example' }] }));
    const patched = async (patch: Record<string, unknown>): Promise<unknown> =>
      why(await fixture.call('Identity/set', { update: { [id]: patch } }), 'notUpdated', id);
    expect(await patched({ email: 'me+b@box.test' })).toMatchObject({
      type: 'invalidProperties',
      properties: ['email'],
    });
    expect(await patched({ email: 'me+a@box.test', name: 'same' })).toBeUndefined();
    expect(await patched({ 'replyTo/0/name': 'y' })).toMatchObject({ type: 'invalidPatch' });
    expect(await patched({ colour: 'red' })).toMatchObject({ type: 'invalidProperties', properties: ['colour'] });
  });

  test('identities of another account are not found', async () => {
    const [theirs] = await identities(other);
    const [mine] = await identities();
    const never = 'i9zz';
    const answer = await fixture.call('Identity/get', { ids: [theirs?.id, never] });
    expect(answer).toMatchObject({ list: [], notFound: [theirs?.id, never] });
    const set = await fixture.call('Identity/set', { destroy: [theirs?.id, never], update: {} });
    const errors = set['notDestroyed'] as Record<string, { description: string }>;
    expect(JSON.stringify(errors[theirs?.id ?? '']).replaceAll(theirs?.id ?? '', '')).toBe(
      JSON.stringify(errors[never]).replaceAll(never, ''),
    );
    expect(await identities(other)).toEqual([theirs]);
    expect(mine?.id).not.toBe(theirs?.id);
  });

  test('truncated changes lead to the same result', async () => {
    const { state } = (await fixture.call('Identity/get')) as { state: string };
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(idOf(await create({ email: `me+${i}@box.test` })));
    await fixture.call('Identity/set', { update: { [ids[0] ?? '']: { name: 'later' } }, destroy: [ids[1]] });
    const seen = new Set<string>();
    let since = state;
    for (let more = true; more;) {
      const piece = await fixture.call('Identity/changes', { sinceState: since, maxChanges: 2 });
      expect(piece['oldState']).toBe(since);
      for (const id of piece['created'] as string[]) seen.add(id);
      expect(piece['updated']).toEqual([]);
      more = piece['hasMoreChanges'] as boolean;
      since = piece['newState'] as string;
    }
    expect([...seen].sort()).toEqual(ids.filter((_id, i) => i !== 1).sort());
    const end = await fixture.call('Identity/get');
    expect(since).toBe(end['state']);
  });

  test.each(['zzzzzz', 'not a state'])('the state %j is refused', async (sinceState) => {
    expect(await fixture.refusal('Identity/changes', { sinceState })).toMatchObject({ type: 'cannotCalculateChanges' });
  });
});
