import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { privateNetworks } from '../../../config/parse.ts';
import { checkSmarthostTarget, StoredSmarthosts } from '../../../src/smarthosts/smarthosts.ts';
import { rowId } from '../../../src/core/ids.ts';
import { fakeResolver } from '../../support/fake-resolver.ts';
import { type Tenants, twoTenants } from '../../support/tenants.ts';

const resolver = fakeResolver({
  'A relay.example.net': ['198.41.0.4'],
  'A inside.example.net': ['10.1.2.3'],
  'A mixed.example.net': ['198.41.0.4', '127.0.0.1'],
  'A trouble.example.net': 'trouble',
});

const classifier = (host: string, port: number, setting: string) => {
  const allowed = privateNetworks(setting);
  return checkSmarthostTarget({ host, port }, allowed.ok ? allowed.value : expect.fail(), resolver);
};

describe('a smarthost that this box would call for somebody', () => {
  test.each([
    ['127.0.0.1', 25],
    ['127.1', 25],
    ['0x7f000001', 25],
    ['[::1]', 25],
    ['::1', 587],
    ['::ffff:127.0.0.1', 587],
    ['::ffff:a9fe:a9fe', 587],
    ['64:ff9b::7f00:1', 587],
    ['169.254.169.254', 25],
    ['10.0.0.1', 587],
    ['localhost', 587],
    ['localhost.', 587],
    ['inside.example.net', 587],
    ['mixed.example.net', 587],
    ['trouble.example.net', 587],
    ['nowhere.example.net', 587],
    ['relay.example.net', 22],
    ['relay.example.net', 6379],
    ['relay.example.net\r\nRSET', 587],
    ['user@relay.example.net', 587],
  ])('%s %i is refused', async (host, port) => {
    expect(await classifier(host, port, 'false')).toHaveProperty('problem');
  });

  test.each([
    ['relay.example.net', 587, 'false'],
    ['198.41.0.4', 465, 'false'],
    ['inside.example.net', 2599, '10.0.0.0/8'],
    ['127.0.0.1', 2599, '127.0.0.1:2599'],
    ['nowhere.example.net', 587, 'true'],
  ])('%s %i with %s is taken', async (host, port, setting) => {
    expect(await classifier(host, port, setting)).toEqual({ host });
  });
});

describe('routes', () => {
  let both: Tenants;
  beforeEach(async () => {
    both = await twoTenants({ resolver, lookNow: resolver });
  });
  afterEach(() => both[Symbol.asyncDispose]());
  const relay = { host: 'relay.example.net', username: 'anna', password: 's3cret-of-anna' };

  test.each([
    ['two scopes', { ...relay, receiverDomain: 'a.test', senderDomain: 'alpha-main.test' }, 'senderDomain'],
    ['no host', { use: 'failover' }, 'host'],
    ['a host that is not used', { use: 'never', host: 'relay.example.net' }, 'host'],
    ['a user without a password', { host: 'relay.example.net', username: 'anna' }, 'password'],
    ['a password without a user', { host: 'relay.example.net', password: 'x' }, 'username'],
    ['a private host', { host: 'inside.example.net' }, 'host'],
    ['a line end in the password', { ...relay, password: 'a\r\nRSET' }, 'password'],
    ['no domain', { ...relay, receiverDomain: 'not a domain' }, 'receiverDomain'],
  ])('with %s are refused, and the field is named', async (_name, given, path) => {
    const settings = { ...both.world.settings, allowPrivateNetworks: { all: false, networks: [], endpoints: [] } };
    Object.assign(both.world, { settings });
    const done = await both.try('set_outbound_route', given);
    expect(done).toMatchObject({ kind: 'refused', refusal: { error: 'invalid_arguments', issues: [{ path }] } });
  });

  test('keep the password sealed; the relay alone opens it', async () => {
    const { route } = await both.do('set_outbound_route', relay);
    expect(JSON.stringify(await both.do('list_outbound_routes'))).not.toContain(relay.password);
    const { store, secrets } = both.world;
    const id = rowId('route', (route as { routeId: string }).routeId) ?? 0;
    const found = await new StoredSmarthosts(store, secrets, undefined).find(id);
    expect(found).toMatchObject({ host: relay.host, port: 587, tls: 'starttls', certificate: 'verified' });
    expect(found?.login).toEqual({ username: 'anna', password: relay.password });
    expect(JSON.stringify(await both.do('list_audit_events', {}))).not.toContain(relay.password);
  });

  test('of another organization are not there, and limited tokens choose none', async () => {
    const foreign = await both.try('remove_outbound_route', { routeId: both.b.main.routeId });
    const missing = await both.try('remove_outbound_route', { routeId: 'rte_999' });
    const without = (one: typeof foreign) => ({ ...one, refusal: one.kind === 'refused' && one.refusal.message });
    expect(without(foreign)).toEqual(without(missing));
    const limited = await both.caller({ actions: ['manage'], projectId: both.a.main.projectId });
    const { queueId, routeId } = both.a.main;
    const chosen = await both.try('set_queue_route', { queueId, route: routeId }, limited);
    expect(chosen).toMatchObject({ refusal: { error: 'out_of_scope' } });
    expect(await both.try('set_queue_route', { queueId, route: 'direct' }, limited)).toMatchObject({ kind: 'done' });
    expect(await both.try('set_queue_route', { queueId, route: 'smarthost' })).toMatchObject({
      refusal: { error: 'conflict' },
    });
  });

  test('much mail is steered by destination, and only what the token may see', async () => {
    const limited = await both.caller({ actions: ['manage'], projectId: both.a.main.projectId });
    expect(await both.do('steer_queue', { action: 'hold' }, limited)).toEqual({ changed: 1, more: false });
    const held = await both.do('list_queue', { state: 'held' });
    expect((held['items'] as unknown[]).length).toBe(3);
    expect(await both.do('steer_queue', { action: 'cancel', domain: 'alpha-side.example' })).toMatchObject({
      changed: 2,
    });
    expect(await both.try('steer_queue', { action: 'reroute' })).toMatchObject({
      refusal: { issues: [{ path: 'route' }] },
    });
  });
});
