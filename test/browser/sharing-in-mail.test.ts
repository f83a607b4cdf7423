import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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

beforeEach(async () => {
  for (const folder of ['inbox', 'archive'])
    await box.ask('share_folder', { address: box.address, folder, withAddress: ANN, access: 'none' });
});

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

const menu = (page: Page, name: string) => page.getByRole('button', { name: `Actions for ${name}`, exact: true });
const item = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true });
const dialog = (page: Page, folder: string) => page.getByRole('dialog', { name: `Share "${folder}"` });
const access = (page: Page) => page.getByLabel(`What ${ANN} may do`);

const sharesOfBox = async (): Promise<string[]> => {
  const { shares } = (await box.ask('list_folder_shares', { address: box.address })) as {
    shares: { folder: string; withAddress: string; rights: string }[];
  };
  return shares.map(({ folder, withAddress, rights }) => `${folder} ${withAddress} ${rights}`);
};

test.each([
  ['desktop, light', 1280, 'light'],
  ['phone, dark', 390, 'dark'],
] as const)(
  'a folder is shared with a colleague, who may do more and less and then nothing: %s',
  async (_name, width, colorScheme) => {
    const { page, context, wrong } = await watchedPage(browser, base, {
      viewport: { width, height: 844 },
      colorScheme,
    });
    await signIn(page);
    if (width < 800) await page.getByRole('button', { name: 'Folders' }).click();
    await menu(page, 'Archive').click();
    await item(page, 'Share').click();
    await dialog(page, 'Archive').getByText('Shared with nobody.').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Address of a colleague').fill(ANN);
    await page.getByRole('combobox', { name: 'Permission', exact: true }).selectOption('Read');
    await dialog(page, 'Archive').getByRole('button', { name: 'Share', exact: true }).click();
    await page.getByText(`Access of ${ANN} saved.`).waitFor();
    await expect.poll(() => access(page).inputValue()).toBe('view');
    expect(await page.getByLabel('Address of a colleague').inputValue()).toBe('');
    expect(await sharesOfBox()).toEqual([`Archive ${ANN} lr`]);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);

    for (const [words, rights] of [
      ['Manage: also move and delete', 'lrswiten'],
      ['Write: also add and label', 'lrswi'],
      ['Read and mark as read', 'lrs'],
    ] as const) {
      await access(page).selectOption(words);
      await expect.poll(sharesOfBox).toEqual([`Archive ${ANN} ${rights}`]);
    }
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(sharesOfBox).toEqual([`Archive ${ANN} lrswi`]);
    await expect.poll(() => access(page).inputValue()).toBe('add');
    await page.getByRole('button', { name: `Remove ${ANN}` }).click();
    await page.getByText(`${ANN} has no access any more.`).waitFor();
    expect(await sharesOfBox()).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(wrong).toEqual([]);
    await context.close();
  },
);

test('a folder is shared by the keyboard; rights of a mail program are named, and come back by Undo', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  await menu(page, 'Inbox').press('Enter');
  await page.locator('[role=menuitem]:focus').waitFor();
  for (let at = 0; at < 4 && (await item(page, 'Share').and(page.locator(':focus')).count()) === 0; at++)
    await page.keyboard.press('ArrowDown');
  await item(page, 'Share').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await dialog(page, 'Inbox').getByText('Shared with nobody.').waitFor();
  await page.getByLabel('Address of a colleague').and(page.locator(':focus')).waitFor();
  await page.keyboard.type(ANN);
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(sharesOfBox).toEqual([`INBOX ${ANN} lrs`]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await menu(page, 'Inbox').and(page.locator(':focus')).waitFor();

  await page.evaluate(`(async () => {
    const folder = decodeURIComponent(location.hash.slice(2));
    const body = new URLSearchParams({ folder, address: '${ANN}', access: 'custom', rights: 'lrw' });
    const { status } = await fetch('/mail/shares', { method: 'POST', body });
    if (status !== 200) throw new Error('status ' + status);
  })()`);
  expect(await sharesOfBox()).toEqual([`INBOX ${ANN} lrw`]);
  await page.keyboard.press('Enter');
  await item(page, 'Share').click();
  await expect.poll(() => access(page).locator('option:checked').textContent()).toBe('Other rights: lrw');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: `Remove ${ANN}` }).press('Enter');
  await page.getByText(`${ANN} has no access any more.`).waitFor();
  await page.getByLabel('Address of a colleague').and(page.locator(':focus')).waitFor();
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await expect.poll(sharesOfBox).toEqual([`INBOX ${ANN} lrw`]);
  await page.getByRole('button', { name: `Remove ${ANN}` }).press('Enter');
  await expect.poll(sharesOfBox).toEqual([]);
  expect(wrong).toEqual([]);
  await context.close();
});

test('an address outside of the organization is refused in the dialog, with the reason', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  await menu(page, 'Sent').click();
  await item(page, 'Share').click();
  await dialog(page, 'Sent').getByText('Shared with nobody.').waitFor();
  await page.getByLabel('Address of a colleague').fill('stranger@elsewhere.test');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('No other mailbox of your organization has this address').waitFor();
  expect(await page.getByLabel('Address of a colleague').inputValue()).toBe('stranger@elsewhere.test');
  expect(await violations(page)).toEqual([]);
  expect(await sharesOfBox()).toEqual([]);
  expect(wrong).toEqual([expect.stringMatching(/^console: .*\b422\b.*\/mail\/shares$/)]);
  await context.close();
});

test.each([
  ['de', 'Freigeben', 'Kein anderes Postfach Ihrer Organisation hat diese Adresse'],
  ['es', 'Compartir', 'Ningún otro buzón de tu organización tiene esta dirección'],
])('the reason of a refusal is in the language of the page: %s', async (locale, shareWord, reason) => {
  const { page, context } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 }, locale });
  await page.goto(`${base}/mail`);
  await page.locator('input[type=email]').fill(box.address);
  await page.locator('input[type=password]').fill(box.password);
  await page.locator('form button').click();
  await page.locator('.folder-actions').first().press('Enter');
  await item(page, shareWord).click();
  await page.getByRole('dialog').locator('input').fill('stranger@elsewhere.test');
  await page.getByRole('dialog').getByRole('button', { name: shareWord }).click();
  await page.getByRole('alert').getByText(reason).waitFor();
  await context.close();
});
