import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROVIDER_RULES, admitsSignIn } from '../../../src/people/rule-commands.ts';
import type { Role } from '../../../src/people/member-commands.ts';
import { publicId } from '../../../src/core/ids.ts';
import { type ConsentWorld, consentWorld } from '../../support/consent-world.ts';
import { auditedOperations, codeAt, enrolled, PASSWORD, passwordPerson } from '../../support/factors.ts';
import { FakeOpenIdProvider, type Forgery } from '../../support/fake-openid-provider.ts';
import type { Said } from '../../support/mcp.ts';
import { proveOwner } from '../../support/people.ts';
import { leads, Visitor } from '../../support/visitor.ts';

let provider: FakeOpenIdProvider;
let box: ConsentWorld;
beforeAll(async () => {
  provider = await FakeOpenIdProvider.start();
  box = await consentWorld({}, { singleSignOn: provider.settings });
});
beforeEach(() => {
  // Failures count for the network: each test begins in the next hour.
  box.clock.now += 3_600_000;
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** A member with a password and a verified address. */
async function member(role: Role = 'owner', organization = 1) {
  const person = await passwordPerson(box, role, organization);
  await box.world.store.write(proveOwner, person.email);
  return person;
}

/** Goes to the provider. Returns where it is sent. */
async function begun(browser: Visitor, next = '/'): Promise<URL> {
  const said = await browser.get(`/login/provider?next=${encodeURIComponent(next)}`);
  expect(said.status).toBe(303);
  return new URL(String(said.headers['location']));
}

const answered = (browser: Visitor, answer: URLSearchParams): Promise<Said> =>
  browser.get(`/login/provider/callback?${answer.toString()}`);

/** Signs in as somebody whom the provider names. */
async function signedIn(claims: Record<string, unknown>, forge: Forgery = {}, browser = new Visitor(box.base)) {
  const url = await begun(browser, '/account');
  return { browser, said: await answered(browser, provider.authorize(url, claims, forge)) };
}

const named = (email: string, sub = `sub of ${email}`) => ({ sub, email, email_verified: true });

describe('single sign-on', () => {
  test('signs in the member who verified the address, and from then on by the subject', async () => {
    const { email, user } = await member();
    const { browser, said } = await signedIn(named(email));
    expect(leads(said)).toBe('303 /account');
    const account = await browser.get('/account');
    expect(account.text).toContain(email);
    expect(account.text).toContain('Single sign-on');
    const renamed = await signedIn({ ...named(email), email: 'new-name@example.test' });
    expect(leads(renamed.said)).toBe('303 /account');
    expect((await renamed.browser.get('/account')).text).toContain(email);
    const audited = await box.world.store.read(auditedOperations, { target: publicId('user', user) });
    expect(audited.filter((one) => one === 'link_single_sign_on')).toHaveLength(1);
  });

  test('accepts a subject of 255 characters, the longest that there is', async () => {
    const { email } = await member();
    expect(leads((await signedIn(named(email, 'x'.repeat(255)))).said)).toBe('303 /account');
  });

  test('accepts a signature by an elliptic curve', async () => {
    const { email } = await member();
    expect(leads((await signedIn(named(email), { alg: 'ES256' })).said)).toBe('303 /account');
  });

  test('the sign-in page names the provider, and the request has PKCE, state and nonce', async () => {
    const browser = new Visitor(box.base);
    expect((await browser.get('/login')).text).toContain('Sign in with Example Login');
    const { searchParams, origin } = await begun(browser);
    expect(origin).toBe(provider.issuer);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('scope')).toBe('openid email');
    const random = ['state', 'nonce', 'code_challenge'].map((name) => searchParams.get(name));
    expect(random.every((one) => /^[\w-]{43}$/.test(one ?? ''))).toBe(true);
    expect(new Set(random).size).toBe(3);
  });

  const now = Math.floor(Date.now() / 1000);
  test.each<[string, object, Forgery]>([
    ['another audience', { aud: 'somebody-else' }, {}],
    ['another audience beside ours', { aud: ['mailstead', 'somebody-else'] }, {}],
    ['another issuer', { iss: 'https://evil.example' }, {}],
    ['another nonce', { nonce: 'of another browser' }, {}],
    ['no nonce', { nonce: undefined }, {}],
    ['an end in the past', { exp: now - 60, iat: now - 600 }, {}],
    ['no subject', { sub: undefined }, {}],
    ['a subject of 256 characters', { sub: 'x'.repeat(256) }, {}],
    ['no signature', {}, { alg: 'none' }],
    ['a signature with a shared secret', {}, { alg: 'HS256' }],
    ['the signature of a stranger', {}, { stranger: true }],
  ])('refuses a token with %s', async (_, claims, forge) => {
    const { email } = await member();
    const { browser, said } = await signedIn({ ...named(email), ...claims }, forge);
    expect([said.status, said.text]).toEqual([422, expect.stringContaining('was not accepted')]);
    expect(leads(await browser.get('/account'))).toMatch(/^303 \/login/);
  });

  test('refuses an answer of another issuer, without one, and of another state (mix-up, CSRF)', async () => {
    const { email } = await member();
    for (const change of [{ iss: 'https://evil.example' }, { iss: '' }, { state: 'guessed' }]) {
      const browser = new Visitor(box.base);
      const answer = provider.authorize(await begun(browser), named(email));
      for (const [name, value] of Object.entries(change)) {
        if (value === '') answer.delete(name);
        else answer.set(name, value);
      }
      const before = provider.requests.filter((path) => path === '/token').length;
      expect((await answered(browser, answer)).status).toBe(422);
      expect(provider.requests.filter((path) => path === '/token')).toHaveLength(before);
    }
  });

  test('accepts an answer once, in the browser that began, within ten minutes', async () => {
    const { email } = await member();
    const browser = new Visitor(box.base);
    const first = provider.authorize(await begun(browser), named(email));
    const thief = new Visitor(box.base);
    expect((await answered(thief, first)).status).toBe(422);
    await begun(thief);
    expect((await answered(thief, first)).status).toBe(422);
    const { cookie } = browser;
    expect(leads(await answered(browser, first))).toBe('303 /');
    const again = new Visitor(box.base);
    again.cookie = cookie;
    expect([(await answered(again, first)).status, again.secret]).toEqual([422, '']);
    const late = provider.authorize(await begun(thief), named(email));
    box.clock.now += 10 * 60_000;
    expect((await answered(thief, late)).status).toBe(422);
  });

  test('says that the provider refused, as text', async () => {
    const browser = new Visitor(box.base);
    const state = (await begun(browser)).searchParams.get('state') ?? '';
    const answer = new URLSearchParams({ error: '<b>access_denied', state, iss: provider.issuer });
    const { status, text } = await answered(browser, answer);
    expect([status, text]).toEqual([422, expect.stringContaining('&lt;b&gt;access_denied')]);
  });

  test('leads to a page of this site only', async () => {
    const { email } = await member();
    const browser = new Visitor(box.base);
    const answer = provider.authorize(await begun(browser, 'https://evil.example/'), named(email));
    expect(leads(await answered(browser, answer))).toBe('303 /');
  });
});

describe('who is signed in', () => {
  test.each<[string, (email: string) => object]>([
    ['an address that the provider has not verified', (email) => ({ ...named(email), email_verified: false })],
    ['"true" as text', (email) => ({ ...named(email), email_verified: 'true' })],
    ['no address', () => ({ sub: 'alone' })],
    ['an address of nobody', () => named('nobody@example.test')],
  ])('nobody, for %s', async (_, claims) => {
    const { email } = await member();
    const { said } = await signedIn({ ...claims(email) });
    expect([said.status, said.text]).toEqual([422, expect.stringContaining('Ask your administrator')]);
  });

  test('nobody, for an address that its account here never verified', async () => {
    const { email } = await passwordPerson(box);
    const { said } = await signedIn(named(email));
    expect([said.status, said.text]).toEqual([422, expect.stringContaining('not verified here')]);
  });

  test('nobody, when an address has a new owner at the provider, until the person unlinks', async () => {
    const { email, visitor } = await member();
    await signedIn(named(email, 'first'));
    const { said } = await signedIn(named(email, 'second'));
    expect([said.status, said.text]).toEqual([422, expect.stringContaining('linked to another account')]);
    expect(leads(await visitor.act('/account/security', 'unlink'))).toBe('303 /account/security?done=unlinked');
    expect(leads((await signedIn(named(email, 'second'))).said)).toBe('303 /account');
  });

  test('nobody, who left all organizations', async () => {
    const { email, user } = await member('member');
    await signedIn(named(email));
    await box.leave(user);
    expect((await signedIn(named(email))).said.status).toBe(422);
  });

  test('a person with an authenticator app, after the second step', async () => {
    const organization = await box.organization('Second step');
    const { email, visitor } = await member('admin', organization);
    const { key } = await enrolled(visitor, box.clock);
    const owner = await member('owner', organization);
    const path = `/o/org_${organization}`;
    await owner.visitor.act(`${path}/members`, 'policy', { secondFactor: 'none', singleSignOn: 'required' });
    const { browser, said } = await signedIn(named(email));
    expect(leads(said)).toBe('303 /login/step');
    expect(leads(await browser.get('/account'))).toMatch(/^303 \/login/);
    const form = await browser.formToken('/login/step');
    const done = await browser.post('/login/step', { form, code: codeAt(key, box.clock.now) });
    expect(leads(done)).toBe('303 /account');
    expect((await browser.get(path)).status).toBe(200);
  });
});

describe('the rule of an organization', () => {
  test('which sessions open it, by rule, role and way', () => {
    const opens = PROVIDER_RULES.map((providerRule) =>
      (['owner', 'admin', 'member'] as const).flatMap((role) =>
        [true, false]
          .filter((byProvider) => admitsSignIn({ role, providerRule }, byProvider))
          .map((one) => `${role} ${one}`),
      ),
    );
    expect(opens).toEqual([
      ['owner false', 'admin false', 'member false'],
      ['owner true', 'owner false', 'admin true', 'admin false', 'member true', 'member false'],
      ['owner true', 'owner false', 'admin true', 'member true'],
    ]);
  });

  test('required: a password opens nothing of it, from the next page on', async () => {
    const organization = await box.organization('Only');
    const path = `/o/org_${organization}`;
    const owner = await member('owner', organization);
    const admin = await member('admin', organization);
    expect((await admin.visitor.get(path)).status).toBe(200);
    const saved = await owner.visitor.act(`${path}/members`, 'policy', {
      secondFactor: 'none',
      singleSignOn: 'required',
    });
    expect(leads(saved)).toBe(`303 ${path}/members?done=policy`);
    expect((await admin.visitor.get(path)).status).toBe(404);
    expect((await admin.visitor.get('/account')).text).toContain('sign in with single sign-on');
    expect((await owner.visitor.get(path)).status).toBe(200);
    const { browser } = await signedIn(named(admin.email));
    expect((await browser.get(path)).status).toBe(200);
  });

  test('off: the provider opens nothing of it', async () => {
    const organization = await box.organization('Never');
    const path = `/o/org_${organization}`;
    const owner = await member('owner', organization);
    await owner.visitor.act(`${path}/members`, 'policy', { secondFactor: 'none', singleSignOn: 'off' });
    const { browser } = await signedIn(named(owner.email));
    expect((await browser.get(path)).status).toBe(404);
    expect((await browser.get('/account')).text).toContain('sign in with your password');
    await browser.signIn(owner.email, PASSWORD);
    expect((await browser.get(path)).status).toBe(200);
  });

  test('required: a mailbox opens by the provider only', async () => {
    const { email, visitor, user } = await member('member');
    await box.change(user, 'member', [box.anna]);
    const owner = await member();
    const rule = (singleSignOn: string) =>
      owner.visitor.act('/o/org_1/members', 'policy', { secondFactor: 'none', singleSignOn });
    const form = await visitor.formToken('/account');
    await rule('required');
    const mailbox = publicId('mailbox', box.anna);
    expect(leads(await visitor.post('/mail/open', { form, mailbox }))).toBe('303 /account?done=mailbox');
    const { browser } = await signedIn(named(email));
    const own = await browser.formToken('/account');
    expect(leads(await browser.post('/mail/open', { form: own, mailbox }))).toBe('303 /mail');
    await rule('allowed');
  });
});

test('a provider that names another issuer, or cannot be reached, signs in nobody', async () => {
  await using other = await FakeOpenIdProvider.start();
  await using wrong = await consentWorld({}, { singleSignOn: other.settings });
  other.metadata = { issuer: 'https://evil.example' };
  expect((await new Visitor(wrong.base).get('/login/provider')).status).toBe(502);
  other.metadata = { authorization_endpoint: 'javascript:alert(1)' };
  expect((await new Visitor(wrong.base).get('/login/provider')).status).toBe(502);
});
