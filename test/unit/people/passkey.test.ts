import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { optionsOf, type PasskeyForgery, SoftAuthenticator } from '../../support/authenticator.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import { auditedOperations, codeAt, enrolled, PASSWORD, passwordPerson, shownCodes } from '../../support/factors.ts';
import type { Said } from '../../support/mcp.ts';
import { leads, Visitor } from '../../support/visitor.ts';

let box: ConsentWorld;
/** The same box by name: browsers have no passkeys for addresses. */
let site: string;
beforeAll(async () => {
  box = await consentWorld();
  site = box.base.replace('127.0.0.1', 'localhost');
});
afterAll(() => box[Symbol.asyncDispose]());

const SECURITY = '/account/security';

/** A person in a browser that opened the box by its name. */
async function someone(): Promise<Someone> {
  const { user, email } = await passwordPerson(box);
  const visitor = new Visitor(site);
  expect(leads(await visitor.signIn(email, PASSWORD))).toBe('303 /');
  return { user, email, visitor };
}

const offer = (visitor: Visitor, name = 'Phone', more = {}): Promise<Said> =>
  visitor.act(SECURITY, 'passkey', { name, ...more });
const add = (visitor: Visitor, credential: string, name = 'Phone'): Promise<Said> =>
  visitor.act(SECURITY, 'add-passkey', { credential, name });

async function register(
  visitor: Visitor,
  key = new SoftAuthenticator(site),
  name = 'Phone',
): Promise<SoftAuthenticator> {
  const done = await add(visitor, key.create(await offer(visitor, name)), name);
  expect(done.status, done.text).toBeLessThan(400);
  return key;
}

const formOf = ({ text }: Said): string => /name="form" value="([^"]+)"/.exec(text)?.[1] ?? '';

/** Answers the page of a browser that signs in. */
async function answer(
  browser: Visitor,
  make: (page: Said) => string,
  more: Record<string, string> = {},
): Promise<Said> {
  const page = await browser.post('/login/passkey', { next: '/account/apps', ...more });
  const credential = make(page);
  return browser.post('/login/passkey/finish', { form: formOf(page), credential, next: '/account/apps', ...more });
}

describe('a passkey', () => {
  test.each(['ES256', 'RS256', 'EdDSA'] as const)('of %s is registered and signs in without password', async (alg) => {
    const { visitor } = await someone();
    const key = await register(visitor, new SoftAuthenticator(site, alg));
    const browser = new Visitor(site);
    expect(leads(await answer(browser, (page) => key.get(page)))).toBe('303 /account/apps');
    expect((await browser.get('/account')).text).toMatch(/Passkey<[\s\S]*Current/);
  });

  test('is one of several with names, brings recovery codes with the first, and is removed', async () => {
    const { user, visitor } = await someone();
    const phone = new SoftAuthenticator(site);
    const first = await add(visitor, phone.create(await offer(visitor)));
    expect(shownCodes(first)).toHaveLength(10);
    await register(visitor, new SoftAuthenticator(site), '<b>Key</b>');
    const page = await visitor.get(SECURITY);
    expect(page.text).toContain('<bdi>Phone</bdi>');
    expect(page.text).toContain('<bdi>&lt;b&gt;Key&lt;/b&gt;</bdi>');
    const [passkey = ''] = [...page.text.matchAll(/name="passkey" value="(\d+)"/g)].map((one) => one[1] ?? '');
    expect(leads(await visitor.act(SECURITY, 'remove-passkey', { passkey }))).toBe(`303 ${SECURITY}?done=removed`);
    expect((await answer(new Visitor(site), (one) => phone.get(one))).status).toBe(422);
    const audited = await box.world.store.read(auditedOperations, { target: `usr_${user}` });
    expect(audited).toEqual(['add_passkey', 'add_passkey', 'remove_passkey']);
  });

  test('is a second factor: the password alone does not sign in any more', async () => {
    const { email, visitor } = await someone();
    const key = await register(visitor);
    const browser = new Visitor(site);
    expect(leads(await browser.signIn(email, PASSWORD))).toBe('303 /login/step');
    expect((await browser.get('/login/step')).text).toContain('Use a passkey');
    expect(leads(await answer(browser, (page) => key.get(page)))).toBe('303 /account/apps');
  });

  test('is asked of a verified user, for this site only, without a list of passkeys', async () => {
    const page = await new Visitor(site).post('/login/passkey', { next: '/' });
    expect(optionsOf(page)).toEqual({
      rpId: 'localhost',
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      userVerification: 'required',
      timeout: 300_000,
    });
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
  });

  test('is refused where the portal has an address and no name', async () => {
    expect((await new Visitor(box.base).post('/login/passkey', {})).status).toBe(409);
  });
});

describe('a forged answer signs nobody in:', () => {
  const FORGERIES: readonly (readonly [string, PasskeyForgery])[] = [
    ['another origin', { origin: 'http://localhost.evil.test' }],
    ['another port', { origin: 'http://localhost:1' }],
    ['another site', { rpId: 'evil.test' }],
    ['a registration', { type: 'webauthn.create' }],
    ['another challenge', { challenge: Buffer.alloc(32, 7).toString('base64url') }],
    ['no verified user', { flags: 0x01 }],
    ['no present user', { flags: 0x04 }],
    ['a frame of another site', { crossOrigin: true }],
  ];
  test.each(FORGERIES)('%s', async (_name, forged) => {
    const { visitor } = await someone();
    const key = await register(visitor);
    const browser = new Visitor(site);
    expect((await answer(browser, (page) => key.get(page, forged))).status).toBe(422);
    expect(browser.secret).toBe('');
  });

  test('the signature of another key, and a broken one', async () => {
    const { visitor } = await someone();
    const key = await register(visitor);
    const other = new SoftAuthenticator(site);
    const stolen = (page: Said): string =>
      JSON.stringify({ ...(JSON.parse(other.get(page)) as object), id: key.id.toString('base64url') });
    expect((await answer(new Visitor(site), stolen)).status).toBe(422);
    for (const text of ['', '{}', '[]', 'null', '{"id":1}', 'x'.repeat(20_000)]) {
      expect((await answer(new Visitor(site), () => text)).status).toBe(422);
    }
  });

  test('an answer that was used, in this browser or in another', async () => {
    const { visitor } = await someone();
    const key = await register(visitor);
    const browser = new Visitor(site);
    const page = await browser.post('/login/passkey', {});
    const fields = { form: formOf(page), credential: key.get(page) };
    const step = browser.cookieOf('mailstead-step');
    const thief = new Visitor(site);
    const other = await thief.post('/login/passkey', {});
    expect((await thief.post('/login/passkey/finish', { ...fields, form: formOf(other) })).status).toBe(422);
    expect(leads(await browser.post('/login/passkey/finish', fields))).toBe('303 /');
    thief.cookie = `mailstead-step=${step}`;
    expect((await thief.post('/login/passkey/finish', fields)).status).toBe(422);
  });

  test('an expired challenge, a form without token, and a form of another site', async () => {
    const { visitor } = await someone();
    const key = await register(visitor);
    const browser = new Visitor(site);
    const late = await browser.post('/login/passkey', {});
    box.clock.now += 10 * 60_000;
    const fields = { form: formOf(late), credential: key.get(late) };
    expect((await browser.post('/login/passkey/finish', fields)).status).toBe(422);
    const page = await browser.post('/login/passkey', {});
    expect((await browser.post('/login/passkey/finish', { credential: key.get(page) })).status).toBe(422);
    const foreign = { 'sec-fetch-site': 'cross-site' };
    expect((await browser.post('/login/passkey', {}, foreign)).status).toBe(403);
    const next = await browser.post('/login/passkey', {});
    const own = { form: formOf(next), credential: key.get(next) };
    expect((await browser.post('/login/passkey/finish', own, foreign)).status).toBe(403);
  });

  test('a cloned authenticator, whose counter does not rise', async () => {
    const { visitor } = await someone();
    const key = new SoftAuthenticator(site);
    key.counter = 5;
    await register(visitor, key);
    const statuses: number[] = [];
    for (const counter of [6, 6, 5, 0, 7]) {
      statuses.push((await answer(new Visitor(site), (page) => key.get(page, { counter }))).status);
    }
    expect(statuses).toEqual([303, 422, 422, 422, 303]);
  });
});

describe('registering', () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const curve = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey;
  const spki = (key: typeof weak): Buffer => key.export({ format: 'der', type: 'spki' });
  const REFUSED: readonly (readonly [string, PasskeyForgery])[] = [
    ['another origin', { origin: 'https://evil.test' }],
    ['a sign-in', { type: 'webauthn.get' }],
    ['no verified user', { flags: 0x41 }],
    ['no credential', { flags: 0x05 }],
    ['the id of another credential', { attestedId: Buffer.alloc(32, 1) }],
    ['a weak RSA key', { publicKey: spki(weak) }],
    ['another curve', { publicKey: spki(curve) }],
    ['no key', { publicKey: Buffer.from('x') }],
  ];
  test.each(REFUSED)('refuses %s', async (_name, forged) => {
    const { visitor } = await someone();
    expect((await add(visitor, new SoftAuthenticator(site).create(await offer(visitor), forged))).status).toBe(422);
    expect((await visitor.get(SECURITY)).text).not.toContain('<bdi>Phone</bdi>');
  });

  test('refuses a passkey that somebody has, and an answer for another session', async () => {
    const [one, two] = [await someone(), await someone()];
    const key = await register(one.visitor);
    expect((await add(two.visitor, key.create(await offer(two.visitor)))).status).toBe(422);
    const page = await offer(one.visitor);
    expect((await add(two.visitor, new SoftAuthenticator(site).create(page))).status).toBe(422);
  });

  test('needs the second factor of a person who has one: a session of the password alone adds none', async () => {
    const { email, visitor } = await someone();
    const old = new Visitor(site);
    await old.signIn(email, PASSWORD);
    const { key } = await enrolled(visitor, box.clock);
    expect((await offer(old)).status).toBe(422);
    expect((await offer(old, 'Phone', { password: PASSWORD })).status).toBe(422);
    expect((await offer(old, 'Phone', { code: codeAt(key, box.clock.now) })).status).toBe(200);
  });
});
