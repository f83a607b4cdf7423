import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addAlias } from '../../mail/store/address/alias.ts';
import { command } from '../../mail/store/engine/types.ts';
import { MAX_FORWARD_TARGETS } from '../../mail/store/address/forwarder.ts';
import { setForward } from '../support/forward-world.ts';
import { GateWorld, outcomeOf } from '../support/gate-world.ts';

const forwardToMany = command('test-forward-to-many', async (tx, one: { from: string; n: number }): Promise<void> => {
  await tx.run(
    `WITH RECURSIVE many (n) AS (SELECT 1 UNION SELECT n + 1 FROM many WHERE n < ?2)
     INSERT INTO forwarder (organization_id, domain_id, source, source_key, destination, destination_key,
       keep_local, created_at)
     SELECT 1, 1, ?1, ?1, 'me+' || n || '@box.test', 'me+' || n || '@box.test', 1, 0 FROM many WHERE true
     ON CONFLICT DO NOTHING`,
    one.from,
    one.n,
  );
});

/** An agent in me@box.test that has read an outsider's mail: its mail to external recipients awaits approval. */
let world: GateWorld;
beforeEach(async () => {
  world = await GateWorld.open([setForward, forwardToMany]);
  await world.read([await world.put({ from: 'evil@y.test' })]);
});
afterEach(() => world[Symbol.asyncDispose]());

const forward = (from: string, to: string, over: object = {}) =>
  world.box.store.write(setForward, { tenant: 1, from, to, keep: true, pending: false, stopped: false, ...over });
/** The agent sends to an address on this box. */
const sends = async (to = 'me@box.test', agent: Parameters<GateWorld['send']>[1] = {}): Promise<string> =>
  outcomeOf(await world.send([to], agent));

test('the organization is whoever reads here only', async () => {
  expect(await sends()).toBe('taken');
  expect(await sends('me+note@box.test')).toBe('taken');
  expect(await sends('owner@home.test')).toBe('taken');
});

describe('an address of the organization is none', () => {
  test.each([
    ['whose mail is forwarded outside', {}],
    ['whose mail only goes outside', { keep: false }],
    ['whose forward waits to be confirmed, as mail may wait too', { pending: true }],
  ])('%s', async (_which, over) => {
    await forward('me@box.test', 'me@private.example', over);
    expect(await sends()).toBe('first_seen_recipient');
    expect(await sends('me+note@box.test')).toBe('first_seen_recipient');
    expect(await sends('owner@home.test')).toBe('taken');
  });

  test('whose mail goes outside at the end of several forwards', async () => {
    await forward('me@box.test', 'one@box.test');
    await forward('one@box.test', 'two@box.test');
    await forward('two@box.test', 'thief@evil.example');
    expect(await sends()).toBe('first_seen_recipient');
  });

  test('whose mail another organization of this box gets', async () => {
    await forward('me@box.test', 'other@far.test');
    expect(await sends()).toBe('first_seen_recipient');
  });

  test('of which one forward of two leads outside', async () => {
    await forward('me@box.test', 'owner@home.test');
    await forward('me@box.test', 'thief@evil.example');
    expect(await sends()).toBe('first_seen_recipient');
  });

  test('that leads on to more than anybody follows', async () => {
    await world.box.store.write(forwardToMany, { from: 'me@box.test', n: MAX_FORWARD_TARGETS - 1 });
    expect(await sends()).toBe('taken');
    await world.box.store.write(forwardToMany, { from: 'me@box.test', n: MAX_FORWARD_TARGETS + 1 });
    expect(await sends()).toBe('first_seen_recipient');
  });

  test('of a proved owner, where its mail goes on', async () => {
    await forward('me@box.test', 'thief@evil.example');
    expect(await sends('me@box.test', { internal: ['me@box.test', 'owner@home.test'] })).toBe('first_seen_recipient');
  });

  test('to whom mail of others is passed on', async () => {
    await world.sendManually(['me@box.test']);
    await forward('me@box.test', 'thief@evil.example');
    expect(await sends('me@box.test', { forwards: true })).toContain('forward_after_reading');
  });

  test('as an alias with a forward of its own', async () => {
    const alias = { tenant: 1, domain: 1, key: 'sales@box.test', accounts: [world.account] };
    await world.box.store.write(addAlias, { ...alias, note: '', expiresAt: null, most: null });
    const here = [{ account: world.account, to: 'sales@box.test', trace: '' }];
    const toAlias = async (): Promise<string> => outcomeOf(await world.send([], {}, { here, elsewhere: [] }));
    expect(await toAlias()).toBe('taken');
    await forward('sales@box.test', 'thief@evil.example');
    expect(await toAlias()).toBe('first_seen_recipient');
  });
});

describe('it stays one', () => {
  test('where its mail goes to an owner, or to another mailbox of the organization, in a circle too', async () => {
    await forward('me@box.test', 'owner@home.test');
    await forward('me@box.test', 'me+copy@box.test');
    expect(await sends()).toBe('taken');
  });

  test('where the policy allows whoever gets it by name, and each of them', async () => {
    await forward('me@box.test', 'me@private.example');
    const allowing = world.policy({ allow: ['me@private.example'] });
    expect(await sends('me@box.test', allowing)).toBe('taken');
    await forward('me@box.test', 'thief@evil.example');
    expect(await sends('me@box.test', allowing)).toBe('first_seen_recipient');
  });

  test('whatever an organization of strangers forwards', async () => {
    await forward('other@far.test', 'thief@evil.example', { tenant: 2 });
    expect(await sends()).toBe('taken');
  });
});

test('an agent that only answers does not get out by a forward of the organization', async () => {
  const answers = await world.put({ from: 'ann@x.test' });
  await forward('me@box.test', 'thief@evil.example');
  expect(await sends('me@box.test', { mode: 'reply_only', answers })).toBe('recipient_blocked mode_reply_only');
});
