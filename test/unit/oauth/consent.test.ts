import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { tool } from '../../support/mcp.ts';
import {
  authorizePath,
  cameBack,
  CALLBACK,
  type Choice,
  connected,
  decided,
  exchanged,
  hiddenFields,
  pkce,
  plain,
  registered,
  tokensOf,
  type Wish,
  wish,
} from '../../support/oauth.ts';
import { leads, Visitor } from '../../support/visitor.ts';

let box: ConsentWorld;
let base: string;
let owner: Someone;
let client: string;
const { challenge, verifier } = pkce();
beforeAll(async () => {
  box = await consentWorld();
  base = box.base;
  owner = await box.someone('owner');
  client = await registered(base);
});
afterAll(() => box[Symbol.asyncDispose]());

const queried = (more: Record<string, string> = {}): string => authorizePath(wish(client, challenge, more));

describe('the page', () => {
  test('says who asks for what, and is framed by nobody', async () => {
    const said = await owner.visitor.get(queried({ scope: 'read send' }));
    expect(said.status).toBe(200);
    for (const text of [
      'Test client',
      'a program on your computer (127.0.0.1:7777)',
      'Read everything',
      'Send mail',
      'Local',
    ]) {
      expect(said.text).toContain(text);
    }
    expect(said.headers).toMatchObject({
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self' http://127.0.0.1:7777; frame-ancestors 'none'; base-uri 'none'",
    });
    expect(said.text).not.toContain('<script');
  });

  test('shows a name as text, whatever stands in it', async () => {
    const name = '"><script>x</script>\u202eelgooG\r\n';
    const odd = await registered(base, { client_name: name });
    const { text } = await owner.visitor.get(authorizePath(wish(odd, challenge)));
    expect(text).toContain('&quot;&gt;&lt;script&gt;x&lt;/script&gt; elgooG');
    expect(text).not.toMatch(/<script|\u202e/);
  });

  test('carries what a client sends back to it and nowhere else', async () => {
    const state = '"><img src=x onerror=alert(1)>&form=1';
    const said = await owner.visitor.get(queried({ state }));
    expect(said.text).not.toContain('<img');
    const back = cameBack(await decided(owner.visitor, wish(client, challenge, { state }), { do: 'deny' }));
    expect(back).toEqual({ error: 'access_denied', state, iss: base });
  });

  test('is for who is signed in: others sign in first, and come back to the same question', async () => {
    const stranger = new Visitor(base);
    const path = queried({ state: 'a b&c=d%/', scope: 'read send', resource: `${base}/mcp` });
    const said = await stranger.get(path);
    expect(said.status).toBe(303);
    const login = new URL(String(said.headers['location']), base);
    expect(login.pathname).toBe('/login');
    const next = login.searchParams.get('next') ?? '';
    const came = await owner.visitor.get(`/login?next=${encodeURIComponent(next)}`);
    expect(leads(came)).toBe(`303 ${next}`);
    expect(Object.fromEntries(new URL(next, base).searchParams)).toEqual(
      Object.fromEntries(new URL(path, base).searchParams),
    );
    expect((await owner.visitor.get(next)).status).toBe(200);
  });

  test.each([
    '/oauth/authorize',
    '/oauth/authorize?x=//evil.example/',
    '/oauth/authorize?x=1#y',
    '//evil.example/oauth/authorize?x=1',
    '/oauth/authorize?x=\r\nset-cookie:a=b',
    'https://evil.example/oauth/authorize?x=1',
    '/\\evil.example',
  ])('no other way leads on from the sign-in: %j', async (next) => {
    expect(leads(await owner.visitor.get(`/login?next=${encodeURIComponent(next)}`))).toBe('303 /');
  });
});

describe('nobody is sent anywhere by what a client got wrong', () => {
  test.each([
    ['an unknown client', { client_id: 'client_nobody' }],
    ['no client', { client_id: '' }],
    ['a place that it did not name', { redirect_uri: 'https://evil.example/cb' }],
    ['no place', { redirect_uri: '' }],
    ['a place below its own', { redirect_uri: `${CALLBACK}/../evil` }],
    ['a script as its place', { redirect_uri: 'javascript:alert(1)' }],
    ['a document on this machine', { client_id: 'https://127.0.0.1/client.json' }],
  ])('%s is reported to the person only', async (_name, more) => {
    const said = await owner.visitor.get(queried(more));
    expect([said.status, said.headers['location']]).toEqual([400, undefined]);
    expect(said.text).toContain('Access not possible');
    expect(said.text).not.toMatch(/evil\.example|javascript:/);
    const posted = await owner.visitor.post('/oauth/authorize', {
      ...wish(client, challenge, more),
      form: await owner.visitor.formToken('/account'),
      do: 'allow',
      actions: 'read',
      reach: 'organization',
    });
    expect([posted.status, posted.headers['location']]).toEqual([400, undefined]);
  });

  test.each([
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['no challenge', { code_challenge: '' }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method', { code_challenge_method: '' }, 'invalid_request'],
    ['a short challenge', { code_challenge: 'abc' }, 'invalid_request'],
    ['a resource of others', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['a resource beside ours', { resource: 'http://127.0.0.1:1/mcp' }, 'invalid_target'],
    ['a resource that is none', { resource: 'mcp' }, 'invalid_target'],
    ['a part of ours', { resource: 'fragment' }, 'invalid_target'],
    ['another place of ours', { resource: 'below' }, 'invalid_target'],
  ])('%s is a mistake that the person may carry back', async (_name, more: Wish, error) => {
    const ours = { fragment: `${base}/mcp#x`, below: `${base}/mcp/x` }[more['resource'] ?? ''];
    const said = await owner.visitor.get(queried({ ...more, ...(ours !== undefined && { resource: ours }) }));
    expect([said.status, said.headers['location']]).toEqual([400, undefined]);
    const href = /<a class="button" href="([^"]+)"/.exec(said.text)?.[1] ?? '';
    expect(href.startsWith(`${CALLBACK}?`)).toBe(true);
    expect(Object.fromEntries(new URL(plain(href)).searchParams)).toMatchObject({ error, state: 'st-1', iss: base });
  });

  test.each(['', '/', '/mcp', '/mcp/', '/mcp?auth=required'])('this box is the resource as {base}%s', async (path) => {
    expect((await owner.visitor.get(queried({ resource: `${base}${path}` }))).status).toBe(200);
  });

  test.each([
    ['twice the same', `${queried()}&redirect_uri=https%3A%2F%2Fevil.example%2F`],
    ['characters that no client has', queried({ state: 'ü' })],
    ['more than anybody needs', queried({ state: 'x'.repeat(5_000) })],
  ])('%s is not understood', async (_name, path) => {
    for (const visitor of [owner.visitor, new Visitor(base)]) {
      const said = await visitor.get(path);
      expect([said.status, said.headers['location']]).toEqual([400, undefined]);
    }
  });
});

describe('a consent', () => {
  const formed = async (): Promise<Record<string, string>> => {
    const { text } = await owner.visitor.get(queried());
    return { ...hiddenFields(text), actions: 'read', reach: 'organization', do: 'allow' };
  };

  test.each([
    ['without the token of the form', { form: '' }, {}, 403],
    ['with that of another session', { form: 'x'.repeat(43) }, {}, 403],
    ['from a page of another site', {}, { 'sec-fetch-site': 'cross-site' }, 403],
    ['from a page of a neighbor', {}, { 'sec-fetch-site': 'same-site' }, 403],
    ['from nowhere', {}, { 'sec-fetch-site': 'none' }, 403],
  ])('%s is none', async (_name, fields, headers, status) => {
    const said = await owner.visitor.post('/oauth/authorize', { ...(await formed()), ...fields }, headers);
    expect([said.status, said.headers['location']]).toEqual([status, undefined]);
  });

  test('of somebody who signed out meanwhile is a sign-in', async () => {
    const said = await new Visitor(base).post('/oauth/authorize', await formed());
    expect(leads(said)).toMatch(/^303 \/login\?next=%2Foauth%2Fauthorize/);
  });

  test.each([
    ['nothing ticked', { actions: [] }, 'Select at least one permission, or deny.'],
    ['an action that there is not', { actions: ['everything'] }, 'Select at least one permission, or deny.'],
    ['no place', { reach: '' }, 'Select a scope.'],
    ['no mailbox', { reach: 'mailboxes' }, 'Select at least one mailbox.'],
    ['a mailbox that there is not', { reach: 'mailboxes', mailboxIds: ['mbx_999'] }, 'Select at least one mailbox.'],
  ] satisfies [string, Choice, string][])('with %s is asked for again', async (_name, choice, text) => {
    const said = await owner.visitor.post('/oauth/authorize', { ...(await formed()), ...choice });
    expect([said.status, said.headers['location']]).toEqual([422, undefined]);
    expect(said.text).toContain(text);
  });

  test('gives what the person ticked, less than was asked, or more, and where', async () => {
    const choice = { actions: ['send', 'mail_read'], reach: 'mailboxes', mailboxIds: [`mbx_${box.anna}`] };
    const { access, scope } = await connected(base, owner.visitor, { scope: 'read manage' }, choice);
    expect(scope).toBe('send mail_read');
    expect((await tool(base, 'whoami', {}, access)).body['principal']).toMatchObject({
      type: 'oauth',
      actions: ['send', 'mail_read'],
      mailboxIds: [`mbx_${box.anna}`],
    });
  });

  test('a member gives their own mailboxes and no action that they have not', async () => {
    const member = await box.someone('member', 1, [box.anna]);
    const page = await member.visitor.get(queried({ scope: 'read manage deploy' }));
    expect(page.text).toMatch(/Requested, but beyond your own permissions:\s+Deploy services\./);
    expect(page.text).not.toContain('bert@');
    const ticked = { actions: ['read', 'deploy', 'logs'], reach: 'organization', mailboxIds: [] };
    expect((await decided(member.visitor, wish(client, challenge), ticked)).status).toBe(422);
    const both = { ...ticked, reach: 'mailboxes', mailboxIds: [`mbx_${box.anna}`, `mbx_${box.bert}`] };
    const { code = '' } = cameBack(
      await decided(member.visitor, wish(client, challenge, { scope: 'deploy read' }), both),
    );
    const { access, scope } = tokensOf(await exchanged(base, client, code, verifier));
    expect(scope).toBe('read');
    const { principal } = (await tool(base, 'whoami', {}, access)).body;
    expect(principal).toMatchObject({ mailboxIds: [`mbx_${box.anna}`], actions: ['read', 'mail_read'] });
  });

  test('is for an organization of the person, which they choose', async () => {
    const second = await box.organization('Second');
    const both = await box.someone('owner');
    const stranger = await box.someone('owner', second);
    const foreign = await both.visitor.get(`${queried()}&organization=org_${second}`);
    const missing = await both.visitor.get(`${queried()}&organization=org_999`);
    expect([foreign.status, foreign.text]).toEqual([403, missing.text]);
    const forced = await both.visitor.post('/oauth/authorize', {
      ...hiddenFields((await both.visitor.get(queried())).text),
      organization: `org_${second}`,
      actions: 'read',
      reach: 'organization',
      do: 'allow',
    });
    expect(forced.status).toBe(403);
    const others = { reach: 'mailboxes', mailboxIds: [`mbx_${box.anna}`] };
    expect((await decided(stranger.visitor, wish(client, challenge), others)).status).toBe(422);
    const { access } = await connected(base, stranger.visitor);
    const { organization } = (await tool(base, 'whoami', {}, access)).body;
    expect(organization).toMatchObject({ id: `org_${second}`, name: 'Second' });
    expect((await tool(base, 'list_emails', {}, access)).body).toMatchObject({ mailboxes: [] });
  });

  test('lets nobody in who belongs nowhere', async () => {
    const gone = await box.someone('admin');
    await box.leave(gone.user);
    expect((await gone.visitor.get(queried())).text).toContain('You have no organization');
  });
});

describe('registration', () => {
  test('answers with what is there, and no secret', async () => {
    const said = await fetch(`${base}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://app.example.com' },
      body: JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'client_secret_post' }),
    });
    expect([said.status, said.headers.get('access-control-allow-origin'), said.headers.get('cache-control')]).toEqual([
      201,
      '*',
      'no-store',
    ]);
    expect(await said.json()).toEqual({
      client_id: expect.stringMatching(/^client_[\w-]{22}$/) as unknown,
      client_id_issued_at: expect.any(Number) as unknown,
      client_name: 'Unnamed program',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  test.each([
    ['no JSON', '{', 'application/json', 400, 'invalid_client_metadata'],
    ['a form', 'redirect_uris=x', 'application/x-www-form-urlencoded', 400, 'invalid_client_metadata'],
    ['something else', 'x', 'text/plain', 415, 'invalid_request'],
    ['too much', JSON.stringify({ x: 'x'.repeat(40_000) }), 'application/json', 413, 'invalid_request'],
  ])('%s is refused', async (_name, body, type, status, error) => {
    const said = await fetch(`${base}/oauth/register`, { method: 'POST', headers: { 'content-type': type }, body });
    expect([said.status, await said.json()]).toEqual([status, expect.objectContaining({ error })]);
  });
});

test.each([
  ['no form', '{}', 'application/json', 'invalid_request'],
  ['nothing', '', 'application/x-www-form-urlencoded', 'unsupported_grant_type'],
  [
    'a password',
    'grant_type=password&username=a&password=b',
    'application/x-www-form-urlencoded',
    'unsupported_grant_type',
  ],
  ['a name of the language', 'grant_type=constructor', 'application/x-www-form-urlencoded', 'unsupported_grant_type'],
  ['no client', 'grant_type=refresh_token', 'application/x-www-form-urlencoded', 'invalid_request'],
  [
    'two clients',
    'grant_type=refresh_token&client_id=a&client_id=b',
    'application/x-www-form-urlencoded',
    'invalid_request',
  ],
  ['no code', 'grant_type=authorization_code&client_id=a', 'application/x-www-form-urlencoded', 'invalid_grant'],
])('%s gets no token', async (_name, body, type, error) => {
  const said = await fetch(`${base}/oauth/token`, { method: 'POST', headers: { 'content-type': type }, body });
  expect([said.status, said.headers.get('cache-control'), await said.json()]).toEqual([
    400,
    'no-store',
    expect.objectContaining({ error }),
  ]);
});
