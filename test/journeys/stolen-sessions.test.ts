import { afterAll, beforeAll, expect, test } from 'vitest';
import { http, tool } from '../support/mcp.ts';
import { leads, OWNER_PASSWORD, type PortalBox, portalBox, Visitor } from '../support/visitor.ts';

const OWN = { 'sec-fetch-site': 'same-origin' };
const ANNA = 'anna@acme.test';
const PORTAL = 'mailstead';
const MAIL = 'mailstead-mail';
let portal: PortalBox;
let base: string;

beforeAll(async () => {
  portal = await portalBox();
  ({ base } = portal);
});
afterAll(() => portal.box[Symbol.asyncDispose]());

async function mailPassword(): Promise<string> {
  const { body } = await tool(base, 'reveal_email_credentials', { address: ANNA }, portal.acme.token);
  return (body['imap'] as { password: string }).password;
}

async function reader(before?: string): Promise<Visitor> {
  const visitor = new Visitor(base);
  if (before !== undefined) visitor.cookie = before;
  const said = await visitor.post('/mail/sign-in', { address: ANNA, password: await mailPassword() });
  expect(leads(said)).toBe('303 /mail');
  return visitor;
}

async function member(before?: string): Promise<Visitor> {
  const visitor = new Visitor(base);
  if (before !== undefined) visitor.cookie = before;
  expect(leads(await visitor.signIn('ada@example.test', OWNER_PASSWORD))).toBe('303 /');
  return visitor;
}

/** Lists what a value opens under the name of a cookie: the portal, web mail, and its JMAP. */
async function opens(name: string, secret: string): Promise<string[]> {
  const cookie = `${name}=${secret}`;
  const page = async (path: string): Promise<number> =>
    (await http('GET', `${base}${path}`, { cookie, ...OWN })).status;
  const paths = ['/account', portal.acme.path, '/mail', '/mail/jmap/session', '/jmap/session'];
  const found: string[] = [];
  for (const path of paths) if ((await page(path)) === 200) found.push(path);
  return found;
}

const PORTAL_PAGES = (): string[] => ['/account', portal.acme.path];
const MAIL_PAGES = ['/mail', '/mail/jmap/session'];

test('a cookie that was set before signing in is not the session after it', async () => {
  const planted = 'a'.repeat(48);
  const known = await member(`${PORTAL}=${planted}`);
  expect(known.secret).not.toBe(planted);
  const mail = await reader(`${MAIL}=${planted}`);
  expect(mail.cookieOf(MAIL)).not.toBe(planted);
  expect([await opens(PORTAL, planted), await opens(MAIL, planted)]).toEqual([[], []]);
  // A session of the attacker's own is not what the victim goes on with, either.
  const attacker = await reader();
  const victim = await reader(`${MAIL}=${attacker.cookieOf(MAIL)}`);
  expect(victim.cookieOf(MAIL)).not.toBe(attacker.cookieOf(MAIL));
});

test('a secret opens nothing under the name of another cookie', async () => {
  const secret = (await member()).secret;
  const mail = (await reader()).cookieOf(MAIL);
  expect([await opens(PORTAL, secret), await opens(MAIL, mail)]).toEqual([PORTAL_PAGES(), MAIL_PAGES]);
  for (const name of [MAIL, `${PORTAL}-step`, `${PORTAL}-device`, `__Host-${PORTAL}`, `__Host-${MAIL}`]) {
    expect([name, await opens(name, secret)]).toEqual([name, []]);
  }
  for (const name of [PORTAL, `${PORTAL}-step`, `${PORTAL}-device`, `__Host-${PORTAL}`, `__Host-${MAIL}`]) {
    expect([name, await opens(name, mail)]).toEqual([name, []]);
  }
});

test('a stolen cookie opens nothing once its owner signed out', async () => {
  const [known, mail] = [await member(), await reader()];
  const stolen = [known.secret, mail.cookieOf(MAIL)] as const;
  await known.post('/logout', { form: await known.formToken('/account') });
  await mail.post('/mail/sign-out', {});
  expect([await opens(PORTAL, stolen[0]), await opens(MAIL, stolen[1])]).toEqual([[], []]);
});

test('a stolen cookie opens nothing once the password was changed, and does not come back', async () => {
  const [known, thief, mail] = [await member(), await member(), await reader()];
  const fields = { current: OWNER_PASSWORD, password: 'a new and long one' };
  expect(leads(await known.act('/account', 'password', fields))).toBe('303 /account?done=password');
  await tool(base, 'rotate_email_credentials', { address: ANNA }, portal.acme.token);
  expect([await opens(PORTAL, thief.secret), await opens(MAIL, mail.cookieOf(MAIL))]).toEqual([[], []]);
  expect(await opens(PORTAL, known.secret)).toEqual(PORTAL_PAGES());
  await portal.box.restart();
  expect([await opens(PORTAL, thief.secret), await opens(MAIL, mail.cookieOf(MAIL))]).toEqual([[], []]);
});
