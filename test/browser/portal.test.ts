import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { tool } from '../support/mcp.ts';
import { ownedOrganization, OWNER_PASSWORD } from '../support/visitor.ts';
import { openBrowser, signedInAs, watchedPage } from './chromium.ts';
import { causesViolations, FRAMED } from './policy-violations.ts';
import { PAYLOADS } from './payloads.ts';

causesViolations(FRAMED);

let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

const PAGES = [
  '',
  '/domains',
  '/mailboxes',
  '/forwarding',
  '/queue',
  '/tokens',
  '/api-keys',
  '/webhooks',
  '/services',
  '/members',
];
const ALL = [
  ...PAGES,
  '/agent-policies',
  '/proposals',
  '/suppressions',
  '/routes',
  '/audit',
  '/retention',
  '/settings',
];

/** A smarthost for mail to a domain, and who logs in there. */
function routeTo(receiverDomain: string, username: string) {
  return { receiverDomain, host: '127.0.0.1', port: 2525, username, password: 'x' };
}

describe.each([
  ['with script', true],
  ['without script', false],
])('a person %s', (_name, javaScriptEnabled) => {
  test('claims, mints a limited token, revokes it and signs out', async () => {
    const email = `person-${javaScriptEnabled}@example.test`;
    const made = await tool(base, 'create_account_and_claim_link', { ownerEmail: email, organizationName: 'Acme' });
    const { page, context, wrong } = await watchedPage(browser, base, { javaScriptEnabled });
    await page.goto(String(made.body['claimUrl']));
    // The token does not stay where others could read it.
    expect(page.url().includes('token=')).toBe(!javaScriptEnabled);
    await page.getByLabel('New password').fill('short but wrong'.slice(0, 11));
    await page.locator('form').evaluate((form: { noValidate: boolean }) => (form.noValidate = true));
    await page.getByRole('button', { name: 'Claim organization' }).click();
    await page.getByText('Use at least 12 characters.').waitFor();
    await page.getByLabel('New password').fill(OWNER_PASSWORD);
    await page.getByRole('button', { name: 'Claim organization' }).click();
    await page.waitForURL(/\/o\/org_\d+\?done=claimed$/);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Acme');
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(await context.cookies()).toMatchObject([
      { name: 'mailstead', httpOnly: true, sameSite: 'Lax' },
      { name: 'mailstead-device', httpOnly: true, sameSite: 'Lax' },
    ]);

    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Reader');
    await page.getByRole('button', { name: 'Create token' }).click();
    const token = (await page.getByLabel('Token', { exact: true }).textContent()) ?? '';
    expect((await tool(base, 'list_emails', {}, token)).status).toBe(200);
    expect((await tool(base, 'provision_email', { localPart: 'x', domain: 'x.test' }, token)).status).toBe(403);

    const row = page.getByRole('row', { name: 'Reader' });
    await row.locator('summary', { hasText: 'Revoke' }).click();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.waitForURL(/done=revoked$/);
    expect((await tool(base, 'list_emails', {}, token)).status).toBe(401);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/login\?done=out$/);
    // The answer to a refused form is an error to the console, and rightly so.
    expect(wrong.filter((one) => !one.includes('422'))).toEqual([]);
    await context.close();
  });
});

describe.each([
  ['with script', true],
  ['without script', false],
])('an owner %s', (_name, javaScriptEnabled) => {
  test('sets a route, is informed what is wrong with another, and removes it', async () => {
    const email = `router-${javaScriptEnabled}@example.test`;
    const { owner, token, path } = await ownedOrganization(base, 'Routed', email);
    const watched = await watchedPage(browser, base, { javaScriptEnabled });
    const { page, context, wrong } = watched;
    await signedInAs(watched, base, owner.secret);
    await page.goto(`${base}${path}`);
    await page.getByRole('link', { name: 'Routes' }).click();
    await page.getByLabel('Recipient domain').fill('slow.example');
    await page.getByLabel('Route', { exact: true }).selectOption('failover');
    await page.getByLabel('User name').fill('acme');
    await page.getByLabel('Password').fill('smarthost-secret');
    await page.getByRole('button', { name: 'Save route' }).click();
    await page.getByText('This is missing: the hostname of the smarthost.', { exact: true }).waitFor();
    expect(await page.getByLabel('Recipient domain').inputValue()).toBe('slow.example');
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await page.getByLabel('Smarthost').fill('127.0.0.1');
    await page.getByLabel('Password').fill('smarthost-secret');
    await page.getByRole('button', { name: 'Save route' }).click();
    await page.waitForURL(/\/routes\?done=set$/);
    const { routes } = (await tool(base, 'list_outbound_routes', {}, token)).body as { routes: object[] };
    expect(routes).toMatchObject([
      { receiverDomain: 'slow.example', use: 'failover', host: '127.0.0.1', port: 587, hasPassword: true },
    ]);
    const row = page.getByRole('row', { name: 'to slow.example' });
    await row.locator('summary', { hasText: 'Delete' }).click();
    await row.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/done=removed$/);
    expect((await tool(base, 'list_outbound_routes', {}, token)).body).toMatchObject({ routes: [] });
    expect(wrong.filter((one) => !one.includes('422'))).toEqual([]);
    await context.close();
  });
});

describe('names that want to be script', () => {
  test.each([
    ['the pages alone', true],
    ['the pages and their policy', false],
  ])('are text everywhere, held by %s', async (_name, bypassCSP) => {
    const { owner, token, path } = await ownedOrganization(base, 'Names', `names-${bypassCSP}@example.test`);
    await tool(base, 'add_email_domain', { domain: `names${Number(bypassCSP)}.test` }, token);
    const domain = `names${Number(bypassCSP)}.test`;
    for (const [i, name] of PAYLOADS.entries()) {
      const done = await Promise.all([
        tool(base, 'create_agent_token', { name, actions: ['read'] }, token),
        tool(base, 'create_email_api_key', { name }, token),
        tool(base, 'create_project', { name }, token),
        tool(base, 'create_service', { name }, token),
        tool(base, 'provision_email', { domain, localPart: `m${i}`, displayName: name }, token),
        tool(base, 'set_outbound_route', routeTo(`r${i}.example`, name), token),
      ]);
      expect([name, ...done.map((one) => Math.floor(one.status / 100))]).toEqual([name, 2, 2, 2, 2, 2, 2]);
    }
    const watched = await watchedPage(browser, base, { bypassCSP });
    await signedInAs(watched, base, owner.secret);
    for (const one of [...ALL, '/mailboxes?after=25', '/audit?verify']) {
      await watched.page.goto(`${base}${path}${one}`);
      await clean(watched.page, one);
    }
    const { mailboxes } = (await tool(base, 'list_emails', { limit: 100 }, token)).body as {
      mailboxes: { id: string }[];
    };
    const { services } = (await tool(base, 'list_services', { limit: 100 }, token)).body as {
      services: { id: string }[];
    };
    const things = [...mailboxes.map((one) => `/mailboxes/${one.id}`), ...services.map((one) => `/services/${one.id}`)];
    for (const one of things) {
      await watched.page.goto(`${base}${path}${one}`);
      await clean(watched.page, one);
    }
    expect(watched.wrong).toEqual([]);
    await watched.context.close();
  });

  test('are text as organization and as person, on the claim page and after it', async () => {
    const watched = await watchedPage(browser, base, { bypassCSP: true });
    const { page } = watched;
    for (const [i, name] of PAYLOADS.entries()) {
      const args = { ownerEmail: `p${i}@example.test`, organizationName: name, ownerDisplayName: name };
      const made = await tool(base, 'create_account_and_claim_link', args);
      await page.goto(String(made.body['claimUrl']));
      await clean(page, `claim ${name}`);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(`Claim ${name}`);
      await page.getByLabel('New password').fill(OWNER_PASSWORD);
      await page.getByRole('button', { name: 'Claim organization' }).click();
      await page.waitForURL(/done=claimed$/);
      await clean(page, name);
      for (const one of ['/members', '/settings']) {
        await page.goto(page.url().replace(/(org_\d+).*$/, `$1${one}`));
        await clean(page, `${one} ${name}`);
      }
      await page.goto(`${base}/account`);
      await clean(page, `account ${name}`);
      await watched.context.clearCookies();
    }
    expect(watched.wrong).toEqual([]);
    await watched.context.close();
  });

  test('are text in held mail: subject, author, text, file name and recipient', async () => {
    const { owner, token, path } = await ownedOrganization(base, 'Letters', 'letters@example.test');
    await tool(base, 'add_email_domain', { domain: 'letters.test' }, token);
    await tool(base, 'verify_email_domain', { domain: 'letters.test' }, token);
    await tool(base, 'provision_email', { domain: 'letters.test', localPart: 'me' }, token);
    const { body } = await tool(base, 'reveal_email_credentials', { address: 'me@letters.test' }, token);
    const { password: pass } = body['imap'] as { password: string };
    const transport = createTransport({
      host: '127.0.0.1',
      port: box.port('submissions'),
      secure: true,
      auth: { user: 'me@letters.test', pass },
      tls: { rejectUnauthorized: false },
    });
    for (const subject of PAYLOADS) {
      const from = { name: subject, address: 'me@letters.test' };
      const content = { text: subject, html: subject, attachments: [{ filename: subject, content: 'x' }] };
      await transport.sendMail({ from, to: '"<svg/onload=pwned()>"@remote.example', subject, ...content });
    }
    const watched = await watchedPage(browser, base, { bypassCSP: true });
    await signedInAs(watched, base, owner.secret);
    const { items } = (await tool(base, 'list_queue', { limit: 100 }, token)).body as { items: { queueId: string }[] };
    expect(items).toHaveLength(PAYLOADS.length);
    for (const [i, { queueId }] of items.entries()) {
      await watched.page.goto(`${base}${path}/queue/${queueId}`);
      await clean(watched.page, `mail ${PAYLOADS[i]}`);
      expect(await watched.page.getByRole('heading', { level: 1 }).textContent()).toBe(PAYLOADS[i]);
    }
    await watched.page.goto(`${base}${path}/queue`);
    await clean(watched.page, 'queue');
    expect(watched.wrong).toEqual([]);
    await watched.context.close();
  });

  /** Nothing of a name has become an element, and whatever ran would have said so by now. */
  async function clean(page: Page, where: string): Promise<void> {
    const grown = await page
      .locator(
        '[data-x], main img, main script, main iframe, main svg:not([role="img"], [aria-hidden]), main style, base',
      )
      .count();
    expect([where, grown]).toEqual([where, 0]);
  }
});

describe('another site', () => {
  test('of the same machine, with the cookie sent along, changes nothing and frames nothing', async () => {
    const { owner, token, path } = await ownedOrganization(base, 'Target', 'target@example.test');
    const form = await owner.formToken(`${path}/settings`);
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end(attack(`${base}${path}/settings`, form));
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    const { port } = evil.address() as AddressInfo;
    const watched = await watchedPage(browser, base);
    await signedInAs(watched, base, owner.secret);
    const before = (await tool(base, 'get_organization', {}, token)).text;

    for (const how of ['byForm', 'byText', 'byFetch', 'byTrick']) {
      const page = await watched.context.newPage();
      await page.goto(`http://127.0.0.1:${port}/`);
      const answered = page.waitForResponse((one) => one.request().method() === 'POST');
      await page.evaluate(`${how}()`);
      const answer = await answered;
      expect([how, answer.status()]).toEqual([how, 403]);
      // The cookie did go along, as it is the same site to browsers: what stopped it is ours.
      if (how === 'byForm') expect(await answer.request().headerValue('cookie')).toContain(owner.secret);
    }
    const { page } = watched;
    await page.goto(`http://127.0.0.1:${port}/`);
    const refused = page.waitForEvent('console', (line) => line.text().includes("frame-ancestors 'none'"));
    await page.evaluate('byFrame()');
    await refused;
    expect((await tool(base, 'get_organization', {}, token)).text).toBe(before);
    await watched.context.close();
    evil.close();
  });

  /** A page with ways to send the form of another site: four functions, each its name. */
  function attack(url: string, form: string): string {
    const inputs = `<input name=do value=rename><input name=name value=Stolen><input name=form value="${form}">`;
    return `<!doctype html><body><script>
      function submit(type) {
        document.body.innerHTML = '<form method=post action="${url}" enctype="' + type + '">${inputs}</form>';
        document.forms[0].submit();
      }
      function post(type) {
        const body = 'do=rename&name=Stolen&form=${form}';
        fetch('${url}', { method: 'POST', mode: 'no-cors', credentials: 'include', headers: { 'content-type': type }, body });
      }
      var byForm = () => submit('application/x-www-form-urlencoded');
      var byText = () => submit('text/plain');
      var byFetch = () => post('application/x-www-form-urlencoded');
      var byTrick = () => post('text/plain; application/x-www-form-urlencoded');
      var byFrame = () => { document.body.innerHTML = '<iframe src="${url}"></iframe>'; };
    </script></body>`;
  }
});

describe('every page', () => {
  test('fits a small screen in both schemes, with the longest names, and names each field', async () => {
    const name = 'W'.repeat(80);
    const { owner, token, path } = await ownedOrganization(base, name, `${'w'.repeat(60)}@example.test`);
    await tool(base, 'add_email_domain', { domain: 'wide.test' }, token);
    await tool(base, 'provision_email', { domain: 'wide.test', localPart: 'w'.repeat(60), displayName: name }, token);
    await tool(base, 'create_service', { name }, token);
    await tool(base, 'set_outbound_route', routeTo(`${'w'.repeat(60)}.example`, name), token);
    const destinationAddress = `${'v'.repeat(60)}@remote.example`;
    await tool(base, 'set_email_forwarder', { sourceAddress: 'office@wide.test', destinationAddress }, token);
    const { domains } = (await tool(base, 'list_email_domains', {}, token)).body as { domains: { id: string }[] };
    const { mailboxes } = (await tool(base, 'list_emails', {}, token)).body as { mailboxes: { id: string }[] };
    const things = [`/domains/${domains[0]?.id}`, `/mailboxes/${mailboxes[0]?.id}`];
    for (const colorScheme of ['light', 'dark'] as const) {
      const watched = await watchedPage(browser, base, { colorScheme, viewport: { width: 360, height: 700 } });
      await signedInAs(watched, base, owner.secret);
      for (const one of [...[...ALL, ...things].map((at) => `${path}${at}`), '/account', '/', '/billing']) {
        await watched.page.goto(`${base}${one}`);
        expect([one, await look(watched.page)]).toEqual([one, { wider: 0, headings: 1, nameless: 0 }]);
      }
      expect(watched.wrong).toEqual([]);
      await watched.context.close();
    }
  });

  const look = (page: Page): Promise<unknown> =>
    page.evaluate(`({
      wider: Math.max(0, document.documentElement.scrollWidth - innerWidth),
      headings: document.querySelectorAll('h1').length,
      nameless: [...document.querySelectorAll('input:not([type=hidden]):not([hidden]), select')]
        .filter((one) => one.labels.length === 0).length,
    })`);
});
