import { afterEach, beforeEach, expect, test } from 'vitest';
import { query } from '../../../mail/store/engine/types.ts';
import { HttpLimits } from '../../../src/http/rate-limits.ts';
import { registerClient } from '../../../src/oauth/client-commands.ts';
import { type ConsentWorld, consentWorld } from '../../support/consent-world.ts';
import { testGuard } from '../../support/guard.ts';
import { authorizePath, connected, pkce, posted, registered, wish } from '../../support/oauth.ts';

const HOUR = 3_600_000;
let box: ConsentWorld;
beforeEach(async () => {
  box = await consentWorld({ limits: new HttpLimits(() => false, testGuard()) });
});
afterEach(() => box[Symbol.asyncDispose]());

const clients = query('test-clients', async (rx): Promise<string[]> => {
  const rows = await rx.all<{ id: string }>('SELECT id FROM oauth_client ORDER BY created_at, id');
  return rows.map((row) => row.id);
});

const register = (): Promise<Response> =>
  fetch(`${box.base}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: ['https://app.example.com/cb'] }),
  });

test('one network registers 20 clients an hour, and is informed when it may again', async () => {
  for (let i = 0; i < 20; i++) expect((await register()).status).toBe(201);
  box.clock.now += HOUR / 2;
  const said = await register();
  expect([said.status, said.headers.get('retry-after')]).toEqual([429, '1800']);
  expect(await said.json()).toMatchObject({ error: 'temporarily_unavailable', retryAfterSeconds: 1800 });
  box.clock.now += HOUR / 2;
  expect((await register()).status).toBe(201);
});

test('two thousand that nobody lets in are the most there are; who was let in stays', async () => {
  const { visitor } = await box.someone('owner');
  const { client } = await connected(box.base, visitor);
  for (let i = 0; i < 2_010; i++) {
    box.clock.now += 1;
    const input = { id: `client_${i}`, name: 'x', redirectUris: ['https://a.test/'], network: null };
    await box.world.store.write(registerClient, input);
  }
  const left = await box.world.store.read(clients, undefined);
  expect(left).toHaveLength(2_001);
  expect([left[0], left[1], left.at(-1)]).toEqual([client, 'client_10', 'client_2009']);
});

test('a hundred requests a minute are the most from one network, at every endpoint', async () => {
  const { visitor } = await box.someone('owner');
  const client = await registered(box.base);
  const path = authorizePath(wish(client, pkce().challenge));
  for (let i = 0; i < 99; i++) await posted(box.base, 'token', {});
  expect((await posted(box.base, 'token', {})).status).toBe(429);
  expect((await posted(box.base, 'revoke', { token: 'x' })).status).toBe(429);
  expect((await register()).status).toBe(429);
  // A stranger's document would be fetched for it.
  expect((await visitor.get(path)).status).toBe(429);
  box.clock.now += 60_000;
  expect((await visitor.get(path)).status).toBe(200);
});
