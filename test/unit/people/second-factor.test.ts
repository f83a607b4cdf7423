import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resetSecondFactors } from '../../../src/people/totp-commands.ts';
import { type ConsentWorld, consentWorld, type Someone } from '../../support/consent-world.ts';
import {
  auditedOperations,
  codeAt,
  enrolled,
  everyFactor,
  PASSWORD,
  passwordPerson,
  shownCodes,
  shownKey,
} from '../../support/factors.ts';
import { authorizePath, pkce, registered, wish } from '../../support/oauth.ts';
import { leads, Visitor } from '../../support/visitor.ts';

let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

const SECURITY = '/account/security';
const now = (): number => box.clock.now;
const next = (): void => void (box.clock.now += 30_000);

/** A person with an authenticator app, and a second browser that has passed the password. */
async function halfway(): Promise<{ person: Someone; key: Buffer; codes: string[]; browser: Visitor }> {
  const person = await passwordPerson(box);
  const { key, codes } = await enrolled(person.visitor, box.clock);
  const browser = new Visitor(box.base);
  expect(leads(await browser.signIn(person.email, PASSWORD))).toBe('303 /login/step');
  return { person, key, codes, browser };
}

const step = (browser: Visitor, code: string) => browser.act('/login/step', '', { code });
const operationsOf = (user: number): Promise<string[]> =>
  box.world.store.read(auditedOperations, { target: `usr_${user}` });
const isIn = async (browser: Visitor): Promise<boolean> => (await browser.get('/account')).status === 200;

describe('enrolling an authenticator app', () => {
  test('shows the key as a QR code and as text, and ten recovery codes once', async () => {
    const { visitor } = await passwordPerson(box);
    const shown = await visitor.act(SECURITY, 'start');
    expect([shown.text.includes('class="qr"'), shownKey(shown).length]).toEqual([true, 20]);
    const wrong = await visitor.act(SECURITY, 'confirm', { code: '000000' });
    expect([wrong.status, shownCodes(wrong), shownKey(wrong)]).toEqual([422, [], shownKey(shown)]);
    const done = await visitor.act(SECURITY, 'confirm', { code: codeAt(shownKey(shown), now()) });
    expect(shownCodes(done)).toHaveLength(10);
    const later = await visitor.get(SECURITY);
    expect([later.text.includes('10 of 10 recovery codes'), shownCodes(later)]).toEqual([true, []]);
  });

  test('names the browsers that signed in without it', async () => {
    const person = await passwordPerson(box);
    const other = new Visitor(box.base);
    await other.signIn(person.email, PASSWORD);
    const key = shownKey(await person.visitor.act(SECURITY, 'start'));
    const done = await person.visitor.act(SECURITY, 'confirm', { code: codeAt(key, now()) });
    expect(done.text).toContain('1 other browser');
    next();
    await person.visitor.act('/account', 'others');
    expect([await isIn(other), await isIn(person.visitor)]).toEqual([false, true]);
  });

  test('needs the password again later than 15 minutes after the sign-in', async () => {
    const { visitor } = await passwordPerson(box);
    box.clock.now += 16 * 60_000;
    expect((await visitor.act(SECURITY, 'start')).status).toBe(422);
    expect((await visitor.act(SECURITY, 'start', { password: PASSWORD })).status).toBe(200);
  });

  test('keeps the key sealed and the codes hashed in the store', async () => {
    const person = await passwordPerson(box);
    const { key, codes } = await enrolled(person.visitor, box.clock);
    const rows = JSON.stringify(await box.world.store.read(everyFactor, { user: person.user }), (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
    );
    expect(rows).not.toContain(key.toString('hex'));
    expect(codes.some((code) => rows.includes(code) || rows.includes(code.replaceAll('-', '')))).toBe(false);
  });

  test('shows its key to no other session, which could not finish it either', async () => {
    const person = await passwordPerson(box);
    // Stolen, and older than 15 minutes: it could not begin an enrollment.
    const thief = new Visitor(box.base);
    await thief.signIn(person.email, PASSWORD);
    box.clock.now += 16 * 60_000;
    expect((await thief.act(SECURITY, 'start')).status).toBe(422);
    const key = shownKey(await person.visitor.act(SECURITY, 'start', { password: PASSWORD }));
    for (const code of ['000000', codeAt(key, now())]) {
      const queried = await thief.act(SECURITY, 'confirm', { code });
      expect([queried.status, shownKey(queried).length, shownCodes(queried)]).toEqual([422, 0, []]);
    }
    expect(shownCodes(await person.visitor.act(SECURITY, 'confirm', { code: codeAt(key, now()) }))).toHaveLength(10);
  });

  test('is not begun again while one is active, so that a stolen session cannot replace it', async () => {
    const person = await passwordPerson(box);
    const { key } = await enrolled(person.visitor, box.clock);
    expect(shownKey(await person.visitor.act(SECURITY, 'start'))).toHaveLength(0);
    const browser = new Visitor(box.base);
    await browser.signIn(person.email, PASSWORD);
    expect(leads(await step(browser, codeAt(key, now())))).toBe('303 /');
    next();
  });
});

describe('signing in with a second factor', () => {
  test('asks for the code, goes where the person wanted to, and replaces the cookie', async () => {
    const { person, key } = await halfway();
    const browser = new Visitor(box.base);
    const fields = { email: person.email, password: PASSWORD, next: '/account/apps' };
    expect(leads(await browser.post('/login', fields))).toBe('303 /login/step');
    expect(browser.secret).toBe('');
    const pending = browser.cookieOf('mailstead-step');
    expect(leads(await step(browser, codeAt(key, now())))).toBe('303 /account/apps');
    expect([browser.cookieOf('mailstead-step'), browser.secret === pending]).toEqual(['', false]);
    expect((await browser.get('/account')).text).toContain('Authenticator app');
    next();
  });

  test('opens nothing between the steps: no page, no consent, no call, whatever the cookie is called', async () => {
    const { browser } = await halfway();
    const secret = browser.cookieOf('mailstead-step');
    const client = await registered(box.base);
    const pages = ['/account', SECURITY, '/account/apps', '/o/org_1', '/o/org_1/members'];
    for (const cookie of [browser.cookie, `mailstead=${secret}`, `__Host-mailstead=${secret}`]) {
      const thief = new Visitor(box.base);
      thief.cookie = cookie;
      for (const page of pages) expect(leads(await thief.get(page))).toMatch(/^303 \/login/);
      for (const page of pages) expect(leads(await thief.post(page, { do: 'others' }))).toMatch(/^303 \/login/);
      expect(leads(await thief.get(authorizePath(wish(client, pkce().challenge))))).toMatch(/^303 \/login/);
      expect((await thief.post('/api/outbox/out_1/approve', {})).status).toBeGreaterThanOrEqual(400);
    }
  });

  test('accepts a code once, also at the same time in two browsers', async () => {
    const { person, key, browser } = await halfway();
    const other = new Visitor(box.base);
    await other.signIn(person.email, PASSWORD);
    const code = codeAt(key, now());
    const done = await Promise.all([browser, other].map((one) => step(one, code)));
    expect(new Set(done.map((one) => one.status))).toEqual(new Set([303, 422]));
    const late = new Visitor(box.base);
    await late.signIn(person.email, PASSWORD);
    expect((await step(late, code)).status).toBe(422);
    next();
    expect((await step(late, codeAt(key, now()))).status).toBe(303);
    next();
  });

  test('accepts a recovery code once, also at the same time in two browsers', async () => {
    const { person, codes, browser } = await halfway();
    const other = new Visitor(box.base);
    await other.signIn(person.email, PASSWORD);
    const [code = ''] = codes;
    const done = await Promise.all([browser, other].map((one) => step(one, code)));
    expect(new Set(done.map((one) => one.status))).toEqual(new Set([303, 422]));
    expect((await person.visitor.get(SECURITY)).text).toContain('9 of 10 recovery codes');
    expect(await operationsOf(person.user)).toContain('use_recovery_code');
  });

  test('ends after five wrong codes, then even a right one needs the password again', async () => {
    const { key, browser } = await halfway();
    for (let i = 0; i < 4; i++) expect((await step(browser, '000000')).status).toBe(422);
    const form = await browser.formToken('/login/step');
    expect((await step(browser, '000000')).status).toBe(422);
    expect(leads(await browser.post('/login/step', { form, code: codeAt(key, now()) }))).toBe('303 /login?done=step');
    expect(await isIn(browser)).toBe(false);
  });

  test('stops guesses for one person after ten in an hour, from any number of browsers', async () => {
    const { person, key } = await halfway();
    const statuses: number[] = [];
    for (let sign = 0; sign < 3; sign++) {
      const thief = new Visitor(box.base);
      await thief.signIn(person.email, PASSWORD);
      for (let i = 0; i < 4; i++) statuses.push((await step(thief, '000000')).status);
    }
    expect(statuses).toEqual([...Array<number>(10).fill(422), 429, 429]);
    box.clock.now += 3_600_000;
    const owner = new Visitor(box.base);
    await owner.signIn(person.email, PASSWORD);
    expect((await step(owner, codeAt(key, now()))).status).toBe(303);
    next();
  });

  test('expires ten minutes after the password', async () => {
    const { key, browser } = await halfway();
    const form = await browser.formToken('/login/step');
    box.clock.now += 10 * 60_000;
    expect(leads(await browser.post('/login/step', { form, code: codeAt(key, now()) }))).toBe('303 /login?done=step');
  });

  test('refuses a form of another site, of another browser, and without its token', async () => {
    const { person, key, browser } = await halfway();
    const other = new Visitor(box.base);
    await other.signIn(person.email, PASSWORD);
    const code = codeAt(key, now());
    const form = await browser.formToken('/login/step');
    const foreign = await browser.post('/login/step', { form, code }, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.status).toBe(403);
    expect(leads(await other.post('/login/step', { form, code }))).toBe('303 /login?done=step');
    expect(leads(await browser.post('/login/step', { code }))).toBe('303 /login?done=step');
    expect([await isIn(browser), await isIn(other)]).toEqual([false, false]);
  });

  test('is not skipped by a new password, and an old first step ends with it', async () => {
    const { person, browser, key } = await halfway();
    const form = await browser.formToken('/login/step');
    const changed = { current: PASSWORD, password: `${PASSWORD} again` };
    expect(leads(await person.visitor.act('/account', 'password', changed))).toBe('303 /account?done=password');
    expect(leads(await browser.post('/login/step', { form, code: codeAt(key, now()) }))).toBe('303 /login?done=step');
    expect(leads(await browser.signIn(person.email, changed.password))).toBe('303 /login/step');
  });
});

describe('turning it off', () => {
  test('needs a fresh code, and is in the audit log', async () => {
    const person = await passwordPerson(box);
    const { key } = await enrolled(person.visitor, box.clock);
    for (const code of ['', '000000', PASSWORD]) {
      expect((await person.visitor.act(SECURITY, 'off', { code })).status).toBe(422);
    }
    expect(leads(await person.visitor.act(SECURITY, 'off', { code: codeAt(key, now()) }))).toBe(
      `303 ${SECURITY}?done=off`,
    );
    expect(leads(await new Visitor(box.base).signIn(person.email, PASSWORD))).toBe('303 /');
    expect(await operationsOf(person.user)).toEqual(['enable_authenticator', 'disable_authenticator']);
  });

  test('by the operator ends all sessions of the person', async () => {
    const person = await passwordPerson(box);
    await enrolled(person.visitor, box.clock);
    const done = await box.world.store.write(resetSecondFactors, { key: person.email });
    expect(done).toEqual({ kind: 'reset', user: person.user });
    expect(await isIn(person.visitor)).toBe(false);
    expect(leads(await person.visitor.signIn(person.email, PASSWORD))).toBe('303 /');
  });

  test('new recovery codes end the old ones, and need a fresh code too', async () => {
    const person = await passwordPerson(box);
    const { key, codes } = await enrolled(person.visitor, box.clock);
    expect((await person.visitor.act(SECURITY, 'codes', { code: '000000' })).status).toBe(422);
    const renewed = shownCodes(await person.visitor.act(SECURITY, 'codes', { code: codeAt(key, now()) }));
    expect([renewed.length, renewed.some((code) => codes.includes(code))]).toEqual([10, false]);
    const browser = new Visitor(box.base);
    await browser.signIn(person.email, PASSWORD);
    expect((await step(browser, codes[1] ?? '')).status).toBe(422);
    expect((await step(browser, renewed[1] ?? '')).status).toBe(303);
  });
});
