import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { openBrowser, watchedPage, type Watched } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;
let watched: Watched;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});
beforeEach(async () => {
  watched = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  return () => watched.context.close();
});

async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({ to: box.address, from: 'Ada <ada@example.test>', subject, text: `Text of ${subject}.` });
  transport.close();
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

const row = (page: Page, text: string) => page.locator('.row a', { hasText: text });

/** Keywords of the only email with this subject. */
async function keywordsOf(page: Page, subject: string): Promise<string[]> {
  return (await page.evaluate(`(async () => {
    const { accounts } = await (await fetch('/mail/jmap/session')).json();
    const accountId = Object.keys(accounts)[0];
    const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
    const methodCalls = [
      ['Email/query', { accountId, filter: { subject: ${JSON.stringify(subject)} } }, '0'],
      ['Email/get', { accountId, '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties: ['keywords'] }, '1'],
    ];
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ using, methodCalls }) };
    const { methodResponses } = await (await fetch('/mail/jmap/api', init)).json();
    return Object.keys(methodResponses[1][1].list[0].keywords);
  })()`)) as string[];
}

test('a label is a keyword: it is added, shown, found and removed', async () => {
  const { page, wrong } = watched;
  await deliver('Labeled');
  await signIn(page);
  await row(page, 'Labeled').click();
  const pane = page.getByRole('region', { name: 'Conversation' });
  await pane.getByText('Text of Labeled.').first().waitFor();
  await pane.getByLabel('Labels').click();
  await pane.getByLabel('New label').fill('To Do');
  await page.keyboard.press('Enter');
  await page.locator('.row .chip', { hasText: 'to-do' }).waitFor();
  expect(await keywordsOf(page, 'Labeled')).toContain('to-do');
  await pane.getByRole('link', { name: 'to-do' }).click();
  await page.getByText('1 conversation').waitFor();
  await row(page, 'Labeled').click();
  await pane.getByText('Text of Labeled.').first().waitFor();
  await pane.getByLabel('Labels').click();
  await pane.getByRole('checkbox', { name: 'to-do' }).uncheck();
  await expect.poll(() => keywordsOf(page, 'Labeled')).not.toContain('to-do');
  expect(wrong).toEqual([]);
});

test('a message that is sent later says when, and can be cancelled until then', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByLabel('To', { exact: true }).fill(box.address);
  await page.getByLabel('Subject').fill('For tomorrow');
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Good morning.');
  await page.getByLabel('Send later').click();
  await page.getByRole('button', { name: /Tomorrow morning/ }).click();
  await page
    .getByRole('status')
    .getByText(/^Will be sent on /)
    .waitFor();
  await page.getByRole('link', { name: /Sent/ }).click();
  await row(page, 'For tomorrow').click();
  await page.locator('.bar', { hasText: 'Will be sent on' }).waitFor();
  await page.getByRole('button', { name: 'Cancel and edit' }).click();
  await page.getByRole('dialog', { name: 'New message' }).waitFor();
  expect(await page.getByLabel('Subject').inputValue()).toBe('For tomorrow');
  await page.getByRole('textbox', { name: 'Message', exact: true }).getByText('Good morning.').waitFor();
  await page.getByRole('button', { name: 'Save draft and close' }).click();
  await page.getByRole('link', { name: /Drafts/ }).click();
  // The draft before this one is deleted after it.
  await expect.poll(() => row(page, 'For tomorrow').count()).toBe(1);
  expect(wrong).toEqual([]);
});

test('vacation response, name and signature are saved', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Answer automatically').check();
  await page.getByLabel('Response', { exact: true }).fill('I am away until Monday.');
  await page.getByRole('button', { name: 'Save response' }).click();
  await page.getByText('The vacation response is on.').waitFor();
  await page.getByLabel('Signature').fill('Ada\nEngines');
  await page.getByRole('button', { name: 'Save name and signature' }).click();
  await page.getByText('Name and signature saved.').waitFor();
  await page.reload();
  await page.getByLabel('Answer automatically').waitFor();
  expect(await page.getByLabel('Answer automatically').isChecked()).toBe(true);
  expect(await page.getByLabel('Response', { exact: true }).inputValue()).toBe('I am away until Monday.');
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByRole('textbox', { name: 'Message', exact: true }).getByText('Engines').waitFor();
  expect(wrong).toEqual([]);
});

test.each([
  ['desktop, light', 1280, 'light'],
  ['desktop, dark', 1280, 'dark'],
  ['phone, light', 390, 'light'],
  ['phone, dark', 390, 'dark'],
] as const)('settings and the editor are accessible: %s', async (_name, width, colorScheme) => {
  const own = await watchedPage(browser, base, { viewport: { width, height: 844 }, colorScheme });
  const { page, wrong } = own;
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const violations = async (): Promise<string[]> => {
    await page.evaluate(source);
    const found = await page.evaluate(
      `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'], iframes: false })`,
    );
    const { violations: all } = found as { violations: { id: string; nodes: { html: string }[] }[] };
    return all.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
  };
  await signIn(page);
  await page.evaluate(`location.hash = '#/settings'`);
  await page.getByLabel('Answer automatically').waitFor();
  expect(await violations()).toEqual([]);
  await page.evaluate(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }))`);
  await page.getByRole('button', { name: 'Bold' }).waitFor();
  await page.getByLabel('Send later').click();
  expect(await violations()).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(wrong).toEqual([]);
  await own.context.close();
});
