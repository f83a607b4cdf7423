import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tool } from '../support/mcp.ts';
import { authorizePath, exchanged, pkce, registered, tokensOf, wish } from '../support/oauth.ts';
import { OWNER_PASSWORD, type PortalBox, portalBox } from '../support/visitor.ts';
import { openBrowser, signedInAs, watchedPage } from './chromium.ts';
import { causesViolations, FRAMED } from './policy-violations.ts';

causesViolations(FRAMED);

let portal: PortalBox;
let browser: Browser;
let program: Server;
/** Where the program waits for the browser. */
let callback: string;

beforeAll(async () => {
  portal = await portalBox();
  browser = await openBrowser();
  program = createServer((_request, response) => void response.end('<title>Connected</title>You may close this.'));
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  callback = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
});
afterAll(async () => {
  program.close();
  await browser.close();
  await portal.box[Symbol.asyncDispose]();
});

/** Expected 4xx console errors: the redirect to the program, and a form shown again. */
const elsewhere = (wrong: readonly string[]): string[] =>
  wrong.filter((one) => !one.includes(new URL(callback).host) && !one.includes('status of 422'));

describe.each([
  ['on a desk', 1280],
  ['on a telephone', 375],
])('a person %s', (_name, width) => {
  test('signs in, takes an action away, chooses a mailbox, lets the program in, and shuts it out', async () => {
    const { base } = portal;
    const client = await registered(base, { client_name: 'Mail helper', redirect_uris: [callback] });
    const { verifier, challenge } = pkce();
    const queried = wish(client, challenge, { redirect_uri: callback, scope: 'read send manage' });
    const watched = await watchedPage(browser, base, { viewport: { width, height: 900 } });
    const { page } = watched;
    await page.goto(`${base}${authorizePath(queried)}`);
    await page.getByLabel('Mail address').fill('ada@example.test');
    await page.getByLabel('Password').fill(OWNER_PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Allow access?' }).waitFor();
    await page.getByText('Mail helper').waitFor();
    const wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(wide)).toBe(false);

    await page.getByRole('checkbox', { name: 'Change everything' }).uncheck();
    await page.getByRole('button', { name: 'Allow' }).click();
    // Nothing is chosen for the person: the browser asks where.
    expect(page.url()).toContain('/oauth/authorize');
    await page.getByLabel('Only the selected mailboxes').check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText('Select at least one mailbox.').waitFor();
    await page.getByRole('checkbox', { name: 'anna@acme.test' }).check();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(`${callback}?**`);
    const back = new URL(page.url()).searchParams;
    expect([back.get('state'), back.get('iss')]).toEqual(['st-1', base]);

    const given = { redirect_uri: callback };
    const { access } = tokensOf(await exchanged(base, client, back.get('code') ?? '', verifier, given));
    const { principal } = (await tool(base, 'whoami', {}, access)).body;
    expect(principal).toMatchObject({ actions: ['read', 'send', 'mail_read'], mailboxIds: ['mbx_2'] });

    await page.goto(`${base}/account`);
    await page.getByRole('link', { name: 'View or disconnect them' }).click();
    const row = page.getByRole('row', { name: 'Mail helper' });
    await row.locator('summary', { hasText: 'Disconnect' }).click();
    await row.getByRole('button', { name: 'Disconnect' }).click();
    await page.waitForURL(/done=ended$/);
    expect((await tool(base, 'whoami', {}, access)).status).toBe(401);
    expect(elsewhere(watched.wrong)).toEqual([]);
    await watched.context.close();
  });
});

test('a program that is refused is informed, and one with a scheme of its own is reached', async () => {
  const { base, acme } = portal;
  const client = await registered(base, { redirect_uris: [callback, 'com.example.app://callback'] });
  const watched = await watchedPage(browser, base);
  await signedInAs(watched, base, acme.owner.secret);
  const { page } = watched;
  await page.goto(`${base}${authorizePath(wish(client, pkce().challenge, { redirect_uri: callback }))}`);
  await page.getByRole('button', { name: 'Deny', exact: true }).click();
  await page.waitForURL(`${callback}?**`);
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');

  await page.goto(
    `${base}${authorizePath(wish(client, pkce().challenge, { redirect_uri: 'com.example.app://callback' }))}`,
  );
  await page.getByLabel('All of Acme').check();
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: 'Allow' }).click();
  expect((await answered).headers()['location']).toMatch(/^com\.example\.app:\/\/callback\?code=/);
  expect(elsewhere(watched.wrong).filter((one) => !one.includes('com.example.app:'))).toEqual([]);
  await watched.context.close();
});

test('a page of a stranger can neither frame the question nor answer it', async () => {
  const { base, acme } = portal;
  const client = await registered(base, { redirect_uris: [callback] });
  const url = `${base}${authorizePath(wish(client, pkce().challenge, { redirect_uri: callback }))}`;
  const hidden = Object.entries({
    ...wish(client, pkce().challenge, { redirect_uri: callback }),
    do: 'allow',
    actions: 'read',
    reach: 'organization',
  }).map(([name, value]) => `<input name="${name}" value="${value}">`);
  const page_ = `<iframe src="${url.replaceAll('&', '&amp;')}"></iframe>
    <form method="post" action="${base}/oauth/authorize">${hidden.join('')}<button>Win</button></form>`;
  const evil = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(page_));
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
  const watched = await watchedPage(browser, base);
  await signedInAs(watched, base, acme.owner.secret);
  const { page } = watched;
  await page.goto(`http://localhost:${(evil.address() as AddressInfo).port}/`);
  expect(await page.frameLocator('iframe').getByRole('button', { name: 'Allow' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Win' }).click();
  await page.getByText('The form came from another site').waitFor();
  expect(page.url()).toBe(`${base}/oauth/authorize`);
  evil.close();
  await watched.context.close();
});
