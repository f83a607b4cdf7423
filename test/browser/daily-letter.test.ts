import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { ownedOrganization } from '../support/visitor.ts';
import { openBrowser, signedInAs, watchedPage } from './chromium.ts';

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

test.each([
  ['with script', true, 1280],
  ['without script on a phone', false, 360],
])('an owner %s turns the daily digest off and on', async (_name, javaScriptEnabled, width) => {
  const acme = await ownedOrganization(base, 'Acme', `${javaScriptEnabled}@example.test`);
  const watched = await watchedPage(browser, base, { javaScriptEnabled, viewport: { width, height: 800 } });
  const { page, wrong } = watched;
  await signedInAs(watched, base, acme.owner.secret);
  await page.goto(`${base}${acme.path}/agents`);
  await page.getByRole('heading', { name: 'Daily digest' }).waitFor();
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Daily digest turned off.').waitFor();
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('Daily digest turned on.').waitFor();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  expect(wrong).toEqual([]);
  await watched.context.close();
});
