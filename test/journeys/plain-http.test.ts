import { expect, test } from 'vitest';
import { loadSettings } from '../../config/load.ts';
import { startBox } from '../support/box.ts';
import { http, rpc, tool } from '../support/mcp.ts';

const HOST = 'mail.live.example';
const JSON_TYPE = { 'content-type': 'application/json' };

test('a live box serves plain HTTP no page, no form and no credential, and says that it is closed', async () => {
  const settings = { BASE_URL: '', BOOTSTRAP: '', TRUST_PROXY: '127.0.0.2/32', EXEMPT_NETWORKS: '127.0.0.0/8' };
  await using box = await startBox({ hostname: HOST, settings });
  const base = `http://127.0.0.1:${box.port('http')}`;
  for (const path of ['/', '/auth/sign-in?next=%2Faccount', '/openapi.json', '/auth.md', '/api/tools']) {
    const said = await http('GET', `${base}${path}`, { host: HOST, authorization: 'Bearer x' });
    expect([path, said.status, said.headers['location']]).toEqual([path, 308, `https://${HOST}${path}`]);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
  for (const [path, headers, body] of [
    ['/auth/sign-in', form, 'email=a%40b.example&password=secret'],
    ['/oauth/token', form, 'grant_type=authorization_code'],
    ['/api/auth/claim', JSON_TYPE, '{"token":"x","password":"correct-horse-battery"}'],
    ['/api/email/send', { ...JSON_TYPE, authorization: 'Bearer x' }, '{}'],
    ['/mcp', JSON_TYPE, '{"jsonrpc":"2.0","id":1,"method":"ping"}'],
  ] as const) {
    const said = await http('POST', `${base}${path}`, headers, body);
    expect([path, said.status, said.json?.['error']]).toEqual([path, 403, 'action_not_allowed']);
    expect(said.headers['set-cookie']).toBeUndefined();
  }
  // Only a trusted proxy may say that the request came over TLS.
  expect((await http('GET', `${base}/auth.md`, { 'x-forwarded-proto': 'https' })).status).toBe(308);
  for (const path of ['/healthz', '/readyz']) expect((await http('GET', `${base}${path}`)).status).toBe(200);
  expect((await http('GET', `${base}/.well-known/acme-challenge/x`)).status).toBe(404);
  expect(box.printed.join('\n')).toContain('Only you can create organizations. MAILSTEAD_BOOTSTRAP=open');
});

test('a proxy that is trusted passes on what came over TLS, with HSTS; creating organizations is off', async () => {
  const settings = { BASE_URL: '', BOOTSTRAP: '', TRUST_PROXY: '127.0.0.0/8', EXEMPT_NETWORKS: '127.0.0.0/8' };
  await using box = await startBox({ hostname: HOST, settings });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const overTls = { 'x-forwarded-proto': 'https', host: HOST };
  const page = await http('GET', `${base}/auth.md`, overTls);
  expect([page.status, page.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
  const create = { name: 'create_own_organization', arguments: { organizationName: 'Guests' } };
  const said = await rpc(base, 'tools/call', create, overTls);
  expect(JSON.stringify(said.json)).toContain('action_not_allowed');
  expect((await http('GET', `${base}/auth.md`, { ...overTls, 'x-forwarded-proto': 'http' })).status).toBe(308);
});

test('local mode, and a base URL that is http, stay as they were', async () => {
  expect(loadSettings({ MAILSTEAD_HOSTNAME: HOST }, [])).toMatchObject({ bootstrap: 'off' });
  expect(loadSettings({ MAILSTEAD_HOSTNAME: HOST, MAILSTEAD_BOOTSTRAP: 'open' }, [])).toMatchObject({
    bootstrap: 'open',
  });
  await using box = await startBox({ hostname: HOST, settings: { BASE_URL: `http://${HOST}` } });
  const base = `http://127.0.0.1:${box.port('http')}`;
  const page = await http('GET', `${base}/auth.md`);
  expect([page.status, page.headers['strict-transport-security']]).toEqual([200, undefined]);
  expect((await tool(base, 'create_own_organization', { organizationName: 'Guests' })).status).toBe(200);
});
