import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { http, tool } from '../support/mcp.ts';
import { leads, type Owned, OWNER_PASSWORD, portalBox, Visitor } from '../support/visitor.ts';

let box: Box;
let base: string;
let acme: Owned;
let other: Owned;

beforeAll(async () => {
  ({ box, base, acme, other } = await portalBox());
});
afterAll(() => box[Symbol.asyncDispose]());

describe('every page', () => {
  const PUBLIC = [
    '/',
    '/login',
    '/auth/setup',
    '/auth/sign-in',
    '/auth/reset',
    '/auth/reset?token=x',
    '/auth/invite',
    '/auth/prove',
  ];
  const OWN = ['', 'domains', 'domains/dom_2', 'mailboxes', 'mailboxes/mbx_2', 'forwarding', 'queue', 'tokens'];
  const MORE = ['api-keys', 'services', 'members', 'audit', 'audit?verify', 'settings', 'nothing', 'mailboxes/mbx_99'];

  test.each([
    ...PUBLIC,
    '/billing',
    '/account',
    '/account/apps',
    '/oauth/authorize',
    ...[...OWN, ...MORE].map((one) => `/o/org_2/${one}`),
  ])('%s is framed, kept, sniffed and reported by nobody, and loads nothing from elsewhere', async (path) => {
    const said = await acme.owner.get(path.replace(/\/$/, '') || '/');
    expect(said.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'(?:; script-src 'self'; connect-src 'self')?$/,
      ),
    });
    expect(said.status).toBeLessThan(500);
    expect(said.text.match(/(?:src|href|action)="(?!\/|#|data:image)/g) ?? []).toEqual([]);
    expect(said.text).not.toMatch(/<script(?! src="\/portal\/)| on[a-z]+=|style="/);
  });

  test('what is no page is as well protected', async () => {
    for (const path of ['/healthz', '/api/tools', '/mcp', '/nothing', '/openapi.json']) {
      const said = await http('GET', `${base}${path}`);
      expect([path, said.headers['cache-control'], said.headers['content-security-policy']]).toEqual([
        path,
        expect.stringMatching(/no-store|max-age/),
        expect.stringContaining("frame-ancestors 'none'"),
      ]);
    }
  });

  test('the style sheet is kept for ever under a name of its own', async () => {
    const path = /href="(\/portal\/style-[0-9a-f]{16}\.css)"/.exec((await acme.owner.get('/account')).text)?.[1];
    const said = await http('GET', `${base}${path}`);
    expect([said.status, said.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
  });

  test('of an organization is the same to strangers as one that does not exist', async () => {
    const foreign = await acme.owner.get(`${other.path}/tokens`);
    const missing = await acme.owner.get('/o/org_9999/tokens');
    expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
    expect(leads(await new Visitor(base).get(`${acme.path}/tokens`))).toBe(
      `303 /login?next=${encodeURIComponent(`${acme.path}/tokens`)}`,
    );
  });
});

describe('the claim page', () => {
  test('is looked at as often as one likes, by GET and by HEAD, and claims once', async () => {
    const args = { ownerEmail: 'often@example.test', organizationName: 'Often' };
    const { body } = await tool(base, 'create_account_and_claim_link', args);
    const token = new URL(String(body['claimUrl'])).searchParams.get('token') ?? '';
    const visitor = new Visitor(base);
    for (const method of ['GET', 'HEAD', 'GET', 'HEAD']) {
      const said = await visitor.get(`/auth/setup?token=${token}`, method);
      expect([method, said.status]).toEqual([method, 200]);
      expect(said.headers['set-cookie']).toBeUndefined();
    }
    const short = await visitor.post('/auth/setup', { token, password: 'too short' });
    expect([short.status, short.text]).toEqual([422, expect.stringContaining('Use at least 12 characters.')]);
    const done = await visitor.post('/auth/setup', { token, password: OWNER_PASSWORD });
    expect(leads(done)).toMatch(/^303 \/o\/org_\d+\?done=claimed$/);
    const bound = expect.stringMatching(/; HttpOnly; SameSite=Lax$/);
    expect(done.headers['set-cookie']).toEqual([bound, bound]);
    const again = await new Visitor(base).post('/auth/setup', { token, password: 'another password' });
    expect(again.status).toBe(410);
    expect((await visitor.get(`/auth/setup?token=${token}`)).status).toBe(410);
  });

  test('never shows its token in a place that others read', async () => {
    const said = await new Visitor(base).get(`/auth/setup?token=${'f'.repeat(48)}`);
    expect([said.status, said.text.includes('f'.repeat(48))]).toEqual([404, false]);
    const printed = box.printed.join('\n');
    for (const { claimToken, owner } of [acme, other]) {
      expect(printed).not.toContain(claimToken);
      expect(printed).not.toContain(owner.secret);
    }
    expect(printed).not.toContain(OWNER_PASSWORD);
  });

  test('may be used by a program', async () => {
    const args = { ownerEmail: 'program@example.test', organizationName: 'Program' };
    const { body } = await tool(base, 'create_account_and_claim_link', args);
    const token = new URL(String(body['claimUrl'])).searchParams.get('token') ?? '';
    const json = { 'content-type': 'application/json' };
    const claim = (password: string) =>
      http('POST', `${base}/api/auth/claim`, json, JSON.stringify({ token, password }));
    expect((await claim('short')).json).toMatchObject({ error: 'invalid_arguments' });
    const done = await claim(OWNER_PASSWORD);
    expect([done.status, done.json]).toEqual([200, expect.objectContaining({ claimed: true, addressProven: false })]);
    expect((await claim(OWNER_PASSWORD)).status).toBe(409);
    const visitor = new Visitor(base);
    visitor.cookie = String(done.headers['set-cookie']).split(';', 1)[0];
    expect(leads(await visitor.get('/'))).toMatch(/^303 \/o\/org_/);
  });
});

describe('sessions', () => {
  test('a chosen or an old value is never taken over', async () => {
    const visitor = new Visitor(base);
    visitor.cookie = `mailstead=${'a'.repeat(48)}`;
    expect(leads(await visitor.signIn('ada@example.test', OWNER_PASSWORD))).toBe('303 /');
    const first = visitor.cookie;
    expect(visitor.secret).not.toBe('a'.repeat(48));
    await visitor.signIn('ada@example.test', OWNER_PASSWORD);
    expect(visitor.cookie).not.toBe(first);
    const old = new Visitor(base);
    old.cookie = first;
    expect(leads(await old.get('/account'))).toBe('303 /login?next=/account');
  });

  test('signing out ends it for good', async () => {
    const visitor = new Visitor(base);
    await visitor.signIn('ada@example.test', OWNER_PASSWORD);
    const { cookie } = visitor;
    const form = await visitor.formToken('/account');
    expect(leads(await visitor.post('/logout', { form }))).toBe('303 /login?done=out');
    visitor.cookie = cookie;
    expect(leads(await visitor.get('/account'))).toBe('303 /login?next=/account');
  });

  test('a wrong password and an unknown address are one answer', async () => {
    const [wrong, unknown] = [new Visitor(base), new Visitor(base)];
    const a = await wrong.signIn('ada@example.test', 'not her password');
    const b = await unknown.signIn('nobody@example.test', 'not her password');
    expect([a.status, a.text.replaceAll('ada@', 'x@')]).toEqual([422, b.text.replaceAll('nobody@', 'x@')]);
    expect(wrong.cookie).toBeUndefined();
  });

  test('a new password signs every other browser out; one can be ended alone', async () => {
    const [here, there, third] = [new Visitor(base), new Visitor(base), new Visitor(base)];
    for (const one of [here, there, third]) await one.signIn('eve@example.test', OWNER_PASSWORD);
    const session = [...(await here.get('/account')).text.matchAll(/name="session" value="(ses_\d+)"/g)][0]?.[1] ?? '';
    expect(leads(await here.act('/account', 'end', { session }))).toBe('303 /account?done=ended');
    expect(leads(await third.get('/account'))).toBe('303 /login?next=/account');
    const wrong = await here.act('/account', 'password', { current: 'not it at all', password: 'a new and long one' });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Wrong current password.')]);
    const fields = { current: OWNER_PASSWORD, password: 'a new and long one' };
    expect(leads(await here.act('/account', 'password', fields))).toBe('303 /account?done=password');
    expect(leads(await there.get('/account'))).toBe('303 /login?next=/account');
    expect((await here.get('/account')).status).toBe(200);
    expect((await here.signIn('eve@example.test', OWNER_PASSWORD)).status).toBe(422);
    await other.owner.signIn('eve@example.test', 'a new and long one');
  });
});

describe('over TLS', () => {
  test('the cookie is bound to this host, and to TLS', async () => {
    const options = {
      method: 'POST',
      rejectUnauthorized: false,
      headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    };
    const queried = request(`https://127.0.0.1:${box.port('https')}/login`, options);
    queried.end(new URLSearchParams({ email: 'ada@example.test', password: OWNER_PASSWORD }).toString());
    const [response] = (await once(queried, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-mailstead=[0-9a-f]{48}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(
        /^__Host-mailstead-device=[0-9a-f]{48}; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
  });
});

test('no secret of a person lies in the data directory', () => {
  const files = readdirSync(box.dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name)));
  expect(files.length).toBeGreaterThan(1);
  for (const { owner, claimToken } of [acme, other]) {
    for (const secret of [owner.secret, claimToken, OWNER_PASSWORD]) {
      expect(files.some((bytes) => bytes.includes(secret))).toBe(false);
      expect(files.some((bytes) => bytes.includes(Buffer.from(secret, 'hex')) && /^[0-9a-f]+$/.test(secret))).toBe(
        false,
      );
    }
  }
});
