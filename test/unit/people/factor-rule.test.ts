import { afterAll, beforeAll, expect, test } from 'vitest';
import { FACTOR_RULES, factorRequiredBy, setFactorRule } from '../../../src/people/rule-commands.ts';
import { type ConsentWorld, consentWorld } from '../../support/consent-world.ts';
import { codeAt, enrolled, PASSWORD, passwordPerson } from '../../support/factors.ts';
import { tool } from '../../support/mcp.ts';
import { authorizePath, pkce, registered, wish } from '../../support/oauth.ts';
import { leads, Visitor } from '../../support/visitor.ts';

let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

const SECURITY = '/account/security';

test('who needs a second factor, by rule and role', () => {
  const needs = FACTOR_RULES.map((factorRule) =>
    (['owner', 'admin', 'member'] as const)
      .filter((role) => factorRequiredBy([{ role, frozen: false, factorRule }]).length > 0)
      .join(),
  );
  expect(needs).toEqual(['', 'owner', 'owner,admin', 'owner,admin,member']);
  expect(factorRequiredBy([{ role: 'owner', frozen: true, factorRule: 'everybody' }])).toEqual([]);
});

test('a person without the required factor can set one up, sign out, and nothing else', async () => {
  const organization = await box.organization('Strict');
  const path = `/o/org_${organization}`;
  const owner = await passwordPerson(box, 'owner', organization);
  const { visitor } = owner;
  const saved = await visitor.act(`${path}/members`, 'policy', { secondFactor: 'owners' });
  expect(leads(saved)).toBe(`303 ${path}/members?done=policy`);
  const client = await registered(box.base);
  const consent = authorizePath(wish(client, pkce().challenge));
  for (const page of [path, `${path}/members`, '/account', '/account/apps', consent]) {
    const login = String((await visitor.get(page)).headers['location']);
    expect(login).toMatch(/^\/login/);
    expect(leads(await visitor.get(login))).toBe(`303 ${SECURITY}`);
  }
  const form = await visitor.formToken(SECURITY);
  for (const page of [`${path}/members`, '/account', '/account/apps']) {
    expect(leads(await visitor.post(page, { form, do: 'others' }))).toMatch(/^303 \/login/);
  }
  expect((await visitor.get(SECURITY)).text).toContain('Strict requires a second factor.');
  const { key } = await enrolled(visitor, box.clock);
  expect((await visitor.get(`${path}/members`)).status).toBe(200);
  const refused = await visitor.act(SECURITY, 'off', { code: codeAt(key, box.clock.now) });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Strict requires a second factor.')]);
});

test('it applies at the next sign-in too, and only to those whom it names', async () => {
  const organization = await box.organization('Later');
  const owner = await passwordPerson(box, 'owner', organization);
  const admin = await passwordPerson(box, 'admin', organization);
  await box.world.store.write(setFactorRule, { organization, rule: 'owners' });
  const browser = new Visitor(box.base);
  await browser.signIn(owner.email, PASSWORD);
  expect(leads(await browser.get('/'))).not.toContain('/o/');
  expect((await browser.get(`/o/org_${organization}`)).status).toBe(303);
  expect((await admin.visitor.get(`/o/org_${organization}`)).status).toBe(200);
  expect((await admin.visitor.get(`/o/org_${organization}/members`)).text).not.toContain('Sign-in policy');
});

test('admins cannot change the rule, and tokens are not concerned by it', async () => {
  const organization = await box.organization('Tokens');
  const owner = await passwordPerson(box, 'owner', organization);
  const admin = await passwordPerson(box, 'admin', organization);
  const path = `/o/org_${organization}`;
  const minted = await owner.visitor.act(`${path}/tokens`, 'mint', { name: 'ci', actions: ['read', 'manage'] });
  const token = /mst_[0-9a-f]{48}/.exec(minted.text)?.[0] ?? '';
  expect(token).not.toBe('');
  expect((await admin.visitor.act(`${path}/members`, 'policy', { secondFactor: 'everybody' })).status).toBe(422);
  await box.world.store.write(setFactorRule, { organization, rule: 'everybody' });
  expect((await owner.visitor.get(path)).status).toBe(303);
  const found = await tool(box.base, 'get_sign_in_policy', {}, token);
  expect(found.body).toMatchObject({ secondFactor: 'everybody', members: 2, required: 2, requiredWithout: 2 });
});
