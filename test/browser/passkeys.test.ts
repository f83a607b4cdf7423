import type { Browser, CDPSession } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { ownedOrganization } from '../support/visitor.ts';
import { openBrowser, signedInAs, watchedPage, type Watched } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  // Browsers have no passkeys for addresses.
  base = `http://localhost:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

/** Gives a page an authenticator that verifies its user without asking. */
async function withAuthenticator({ page, context }: Watched): Promise<CDPSession> {
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return devtools;
}

test('a person registers a passkey, signs out, and signs in with it, under the strict policy', async () => {
  const { owner } = await ownedOrganization(base, 'Keys', 'keys@example.test');
  const watched = await watchedPage(browser, base);
  const { page, wrong } = watched;
  await withAuthenticator(watched);
  await signedInAs(watched, base, owner.secret);
  await page.goto(`${base}/account/security`);
  await page.getByLabel('Name').fill('Laptop');
  await page.getByRole('button', { name: 'Register a passkey' }).click();
  await page.getByRole('button', { name: 'Register', exact: true }).click();
  await page.getByRole('heading', { name: 'Recovery codes' }).first().waitFor();
  expect(await page.getByRole('cell', { name: 'Laptop' }).count()).toBe(1);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL(/\/o\/org_\d+$/);
  await page.goto(`${base}/account`);
  await page.getByRole('row', { name: /Passkey.*Current/ }).waitFor();
  expect(wrong).toEqual([]);
});
