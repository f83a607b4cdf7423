import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { JmapClient, listOf } from '../support/jmap-client.ts';
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

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

const row = (page: Page, text: string) => page.locator('.row a', { hasText: text });
const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
const subject = (page: Page) => page.getByLabel('Subject');
const menu = (page: Page) => page.locator('.composer .templates');

async function write(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByRole('button', { name: 'Bold' }).waitFor();
}

async function close(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Delete draft' }).click();
  await page.locator('.composer').waitFor({ state: 'detached' });
}

async function choose(page: Page, name: string): Promise<void> {
  await menu(page).locator('summary').click();
  await menu(page).getByRole('button', { name }).click();
}

/** Templates as another mail program finds them. */
async function stored(): Promise<Record<string, unknown>[]> {
  const client = await JmapClient.discover(base, { user: box.address, password: box.password });
  const folder = listOf(await client.call('Mailbox/get')).find(({ name }) => name === 'Templates');
  const { ids } = await client.call('Email/query', { filter: { inMailbox: folder?.['id'] } });
  const properties = ['subject', 'keywords', 'preview', 'attachments'];
  return listOf(await client.call('Email/get', { ids, properties }));
}

test('a message is saved as a template, inserted in another one, replaced, and used from its folder', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Signature').fill('Me of the box');
  await page.getByRole('button', { name: 'Save name and signature' }).click();
  await page.getByText('Name and signature saved.').waitFor();
  await page.getByRole('status').getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: /Inbox/ }).click();
  await write(page);
  await menu(page).locator('summary').focus();
  await page.keyboard.press('Enter');
  await menu(page).getByText('No templates yet.').waitFor();
  expect(await violations(page)).toEqual([]);
  await menu(page).getByRole('button', { name: 'Save as template' }).press('Enter');
  await page.getByText('Type a subject first: it is the name of the template.').waitFor();
  await subject(page).fill('Opening hours');
  await page.locator('.composer footer input[type=file]').setInputFiles({
    name: 'map.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('A map.'),
  });
  await page.locator('.composer progress').waitFor({ state: 'detached' });
  await field(page).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Control+b');
  await page.keyboard.type('We open at nine.');
  await choose(page, 'Save as template');
  await page.getByText('Template "Opening hours" saved.').waitFor();
  await close(page);
  expect(await stored()).toEqual([
    expect.objectContaining({
      subject: 'Opening hours',
      keywords: { $seen: true, $template: true },
      preview: 'We open at nine.',
      attachments: [expect.objectContaining({ name: 'map.txt' })],
    }),
  ]);

  await write(page);
  await choose(page, 'Opening hours');
  await field(page).locator('b', { hasText: 'We open at nine.' }).waitFor();
  expect(await subject(page).inputValue()).toBe('Opening hours');
  await page.locator('.composer .files', { hasText: 'map.txt' }).waitFor();
  expect((await field(page).innerText()).match(/Me of the box/g)).toHaveLength(1);
  await page.keyboard.type(' And close at five.');
  await choose(page, 'Save as template');
  await page.getByText('Template "Opening hours" replaced. The earlier one is in Trash.').waitFor();
  await close(page);
  expect((await stored()).map(({ preview }) => preview)).toEqual(['We open at nine. And close at five.']);

  await page.getByRole('link', { name: 'Templates' }).click();
  await row(page, 'Opening hours').click();
  await page.getByRole('button', { name: 'Use template' }).click();
  await field(page).getByText('And close at five.').waitFor();
  await field(page).getByText('Me of the box').waitFor();
  await close(page);
  expect(await stored()).toHaveLength(1);
  expect(wrong).toEqual([]);
  await context.close();
});

test('a template goes into a plain text at the cursor, and changes no subject that is there; on a phone', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 390, height: 844 } });
  await signIn(page);
  await page.getByRole('button', { name: 'Folders' }).click();
  await write(page);
  await page.getByRole('button', { name: 'Plain text' }).click();
  await subject(page).fill('My own');
  await page.locator('.composer textarea').fill('Before. After.');
  await page.keyboard.press('Control+Home');
  for (const _ of 'Before. ') await page.keyboard.press('ArrowRight');
  await menu(page).locator('summary').click();
  const body = await menu(page).locator('.menu-body').boundingBox();
  expect(body?.x).toBeGreaterThanOrEqual(0);
  expect((body?.x ?? 0) + (body?.width ?? 999)).toBeLessThanOrEqual(390);
  expect(await violations(page)).toEqual([]);
  await menu(page).getByRole('button', { name: 'Opening hours' }).click();
  await expect
    .poll(() => page.locator('.composer textarea').inputValue())
    .toBe('Before. We open at nine. And close at five.After.');
  expect(await subject(page).inputValue()).toBe('My own');
  expect(wrong).toEqual([]);
  await context.close();
});

test('a menu that cannot list all templates says so', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  await write(page);
  // As if the folder had more than one request reads.
  await page.route('**/mail/jmap/api', async (route) => {
    if (route.request().postData()?.includes('"calculateTotal":true') !== true) return route.continue();
    const response = await route.fetch();
    const body = (await response.json()) as { methodResponses: [string, Record<string, unknown>, string][] };
    for (const [name, result] of body.methodResponses) if (name === 'Email/query') result['total'] = 812;
    return route.fulfill({ response, json: body });
  });
  await menu(page).locator('summary').click();
  await menu(page).getByRole('button', { name: 'Opening hours' }).waitFor();
  await menu(page)
    .getByText('The newest 1 of 812 templates are listed. The others are in the folder Templates.')
    .waitFor();
  expect(await violations(page)).toEqual([]);
  await close(page);
  expect(wrong).toEqual([]);
  await context.close();
});

test('a template replaces one of its name that is not listed', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  const save = async (notice: string): Promise<unknown[]> => {
    await write(page);
    await subject(page).fill('Far behind');
    await choose(page, 'Save as template');
    await page.getByText(`Template "Far behind" ${notice}.`).waitFor();
    await close(page);
    return (await stored()).filter((one) => one['subject'] === 'Far behind').map(({ id }) => id);
  };
  const first = await save('saved');
  // As if the folder had more than one request reads, and this one were behind them.
  await page.route('**/mail/jmap/api', async (route) => {
    if (route.request().postData()?.includes('"calculateTotal":true') !== true) return route.continue();
    const response = await route.fetch();
    const body = (await response.json()) as { methodResponses: [string, Record<string, unknown>, string][] };
    for (const [name, result] of body.methodResponses) {
      if (name === 'Email/query') result['total'] = 812;
      if (name === 'Email/get') result['list'] = [];
    }
    return route.fulfill({ response, json: body });
  });
  const second = await save('replaced');
  expect([first.length, second.length]).toEqual([1, 1]);
  expect(second).not.toEqual(first);
  expect(wrong).toEqual([]);
  await context.close();
});
