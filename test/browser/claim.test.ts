import { ImapFlow } from 'imapflow';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { CurlAgent } from '../support/curl.ts';
import { OWNER_PASSWORD } from '../support/visitor.ts';
import { openBrowser, watchedPage } from './chromium.ts';

const OWNER = 'anna@box.test';
let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox();
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

/** The link of the claim mail, as its reader sees it. */
async function mailedLink(password: string): Promise<string> {
  const tls = { rejectUnauthorized: false };
  const auth = { user: OWNER, pass: password };
  const client = new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
  await client.connect();
  await client.mailboxOpen('INBOX');
  const mail = await client.fetchOne('*', { source: true });
  await client.logout();
  const text =
    mail === undefined || mail === false ? '' : String(mail.source).replace(/=\r\n/g, '').replace(/=3D/g, '=');
  return /http\S+\/auth\/setup\?token=[0-9a-f]+/.exec(text)?.[0] ?? expect.fail(text);
}

test('an agent makes an organization, its human claims it by mail, looks and cuts it off', async () => {
  const { password } = (await box.ask('add_mailbox', { address: OWNER })) as { password: string };
  const agent = new CurlAgent(base);
  const made = await agent.tool<{ token: string; claimUrl: string; emailSent: boolean }>(
    'create_account_and_claim_link',
    { ownerEmail: OWNER, organizationName: 'Handed over' },
  );
  expect(made.emailSent).toBe(true);
  agent.token = made.token;
  await agent.tool('add_email_domain', { domain: 'handed.test' });
  expect(await agent.tool('whoami')).toMatchObject({ claimed: false });

  const link = await mailedLink(password);
  expect(link).not.toBe(made.claimUrl);
  const { page, context, wrong } = await watchedPage(browser, base);
  await page.goto(link);
  await page.getByLabel('New password').fill(OWNER_PASSWORD);
  await page.getByRole('button', { name: 'Claim organization' }).click();
  await page.waitForURL(/\/o\/org_\d+\?done=claimed$/);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Handed over');
  await page.getByText('handed.test').first().waitFor();
  expect(await agent.tool('whoami')).toMatchObject({ claimed: true, gate: 'open' });

  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Reader');
  await page.getByRole('button', { name: 'Create token' }).click();
  const limited = new CurlAgent(base);
  limited.token = (await page.getByLabel('Token', { exact: true }).textContent()) ?? '';
  expect(await limited.tool('list_email_domains')).toMatchObject({ domains: [{ domain: 'handed.test' }] });
  expect(await limited.try('provision_email', { domain: 'handed.test', localPart: 'x' })).toMatchObject({
    error: 'action_not_allowed',
    requiredAction: 'manage',
  });

  // The agent's own token is the human's to end.
  await page.getByRole('link', { name: 'Tokens' }).click();
  const row = page.getByRole('row').filter({ hasText: made.token.slice(0, 10) });
  await row.locator('summary', { hasText: 'Revoke' }).click();
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.waitForURL(/done=revoked$/);
  await expect(agent.tool('whoami')).rejects.toThrow(/unauthorized/);
  expect(wrong).toEqual([]);
  await context.close();
});
