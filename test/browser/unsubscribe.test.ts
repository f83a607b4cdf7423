import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { violations } from './axe.ts';
import { openBrowser, watchedPage } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

async function deliver(subject: string, addresses: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const headers = { 'List-Unsubscribe': addresses, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
  await transport.sendMail({
    to: box.address,
    from: 'News <news@list.test>',
    subject,
    text: 'News of today.',
    headers,
  });
  transport.close();
}

async function openMail(page: Page, subject: string): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.row a', { hasText: subject }).click();
  await page.getByRole('button', { name: 'Unsubscribe' }).waitFor();
}

// The request itself, for signed mail, is tested in test/unit/webmail/unsubscribe.test.ts.
describe.each([
  ['desktop', { width: 1280, height: 860 }],
  ['phone', { width: 390, height: 844 }],
])('mail of a list that no signature covers, on a %s', (where, viewport) => {
  test('is unsubscribed by a mail, which the reader sends', async () => {
    const { page, context, wrong } = await watchedPage(browser, base, { viewport });
    const subject = `By mail ${where}`;
    await deliver(subject, '<https://list.test/u>, <mailto:leave@list.test?subject=leave>');
    await openMail(page, subject);
    await page.getByRole('button', { name: 'Unsubscribe' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New message' }).waitFor();
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toContain('leave@list.test');
    expect(await page.getByLabel('Subject').inputValue()).toBe('leave');
    expect(wrong).toEqual([]);
    await context.close();
  });

  test('is unsubscribed on a page, whose address is shown before it opens', async () => {
    const { page, context, wrong } = await watchedPage(browser, base, { viewport });
    const subject = `By page ${where}`;
    await deliver(subject, '<https://list.test/u?id=1>');
    await openMail(page, subject);
    await page.getByRole('button', { name: 'Unsubscribe' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('https://list.test/u?id=1').waitFor();
    await question.getByText('Nothing confirms that the page is theirs').waitFor();
    expect(await violations(page)).toEqual([]);
    await question.getByRole('button', { name: 'Do not open' }).click();
    await question.waitFor({ state: 'detached' });
    expect(wrong).toEqual([]);
    await context.close();
  });
});
