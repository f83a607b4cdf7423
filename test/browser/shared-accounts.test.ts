import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { violations } from './axe.ts';
import { openBrowser, watchedPage } from './chromium.ts';

const ANN = 'ann@box.test';

let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
  await box.ask('provision_email', { domain: 'box.test', localPart: 'ann' });
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

const share = (folder: string, access: 'none' | 'read' | 'write'): Promise<unknown> =>
  box.ask('share_folder', { address: ANN, folder, withAddress: box.address, access });

async function deliver(to: string, subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({ to, from: 'Ada <ada@example.test>', subject, text: `Text of ${subject}.` });
  transport.close();
}

async function signIn(page: Page, password = box.password): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

const row = (page: Page, text: string) => page.locator('.row', { hasText: text });
const bar = (page: Page) => page.locator('.thread-bar');

/** Labels of the buttons that change messages or answer them. */
const labels = (page: Page): Promise<unknown> =>
  page.evaluate(`[...document.querySelectorAll('.thread-bar button, .thread-bar summary, .answer button, .answer summary')]
    .map((one) => one.getAttribute('aria-label') ?? one.textContent.trim())`);

test.each([
  ['desktop, light', 1280, 'light'],
  ['phone, dark', 390, 'dark'],
] as const)(
  'a shared account is opened and left, and offers what its rights allow: %s',
  async (_name, width, scheme) => {
    const options = { viewport: { width, height: 844 }, colorScheme: scheme };
    const { page, context, wrong } = await watchedPage(browser, base, options);
    const showFolders = async (): Promise<void> => {
      if (width < 800) await page.getByRole('button', { name: 'Folders' }).click();
    };
    await share('inbox', 'read');
    await deliver(ANN, `For Ann ${scheme}`);
    await deliver(box.address, `For me ${scheme}`);
    await signIn(page);
    await row(page, `For me ${scheme}`).waitFor();
    await showFolders();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: ANN }).click();
    await row(page, `For Ann ${scheme}`).waitFor();
    expect(await row(page, 'For me').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Write' }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'New folder' }).count()).toBe(0);
    await row(page, `For Ann ${scheme}`).locator('a').click();
    const pane = page.getByRole('region', { name: 'Conversation' });
    await pane.getByText(`Text of For Ann ${scheme}.`).first().waitFor();
    expect(await labels(page)).toEqual(['Back to the list', 'Mark as unread']);
    expect(await violations(page)).toEqual([]);
    // The keys say why they do nothing.
    for (const key of ['#', 'e']) await page.keyboard.press(key);
    await page.getByText('This mailbox has no folder "Archive".').waitFor();
    await page.keyboard.press('r');
    await page.getByText('You cannot send from this account.').waitFor();
    await page.keyboard.press('s');
    await page.getByText('You may read these messages, but not change them.').waitFor();

    await share('inbox', 'write');
    await page.reload();
    await pane.getByText(`Text of For Ann ${scheme}.`).first().waitFor();
    await bar(page).getByRole('button', { name: 'Add star' }).click();
    await bar(page).getByRole('button', { name: 'Remove star' }).waitFor();
    page.removeAllListeners('dialog');
    page.on('dialog', (dialog) => void dialog.accept());
    await bar(page).getByRole('button', { name: 'Delete for ever' }).click();
    await row(page, `For Ann ${scheme}`).waitFor({ state: 'detached' });
    await showFolders();
    await page.getByRole('link', { name: box.address }).click();
    await row(page, `For me ${scheme}`).waitFor();
    await row(page, `For me ${scheme}`).locator('a').click();
    await bar(page).getByRole('button', { name: 'Archive' }).click();
    await page.getByText('Moved to "Archive".').waitFor();
    expect(wrong).toEqual([]);
    await context.close();
  },
);

test('without shared accounts there is no choice of accounts', async () => {
  await share('inbox', 'none');
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  await page.goto(`${base}/mail?account=mbx_999`);
  await page.getByRole('button', { name: 'Write' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Accounts' }).count()).toBe(0);
  expect(wrong).toEqual([]);
  await context.close();
});

test('a password that may only read is offered no action', async () => {
  const { password } = (await box.ask('create_app_password', {
    address: box.address,
    name: 'reader',
    readOnly: true,
  })) as {
    password: string;
  };
  await deliver(box.address, 'Only to be read');
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page, password);
  await row(page, 'Only to be read').locator('a').click();
  const pane = page.getByRole('region', { name: 'Conversation' });
  await pane.getByText('Text of Only to be read.').first().waitFor();
  expect(await labels(page)).toEqual(['Back to the list']);
  for (const name of ['Write', 'New folder', /^Actions for/, /^Add star/])
    expect(await page.getByRole('button', { name }).count()).toBe(0);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Language of web mail').waitFor();
  expect(await page.getByRole('button', { name: /^Save/ }).count()).toBe(0);
  expect(wrong).toEqual([]);
  await context.close();
});
