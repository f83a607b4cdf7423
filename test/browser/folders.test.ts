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

async function deliver(...subjects: string[]): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  for (const subject of subjects)
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

const row = (page: Page, text: string) => page.locator('.row', { hasText: text });
const folder = (page: Page, name: string) => page.locator('.folder', { hasText: name });
const menu = (page: Page, name: string) => page.getByRole('button', { name: `Actions for ${name}`, exact: true });
const item = (page: Page, name: string) => page.getByRole('menuitem', { name, exact: true });

async function create(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

test('a folder is created, filled by dragging, renamed and deleted, by the keyboard', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await deliver('Quinces one', 'Quinces two', 'Quinces three');
  await signIn(page);
  await page.getByRole('button', { name: 'New folder' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'New folder' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.type('Garden');
  await page.keyboard.press('Enter');
  await page.getByText('Folder "Garden" created.').waitFor();
  await page.getByRole('heading', { name: 'Garden' }).waitFor();

  await page.getByRole('link', { name: /Inbox/ }).click();
  await row(page, 'Quinces one').locator('a').dragTo(folder(page, 'Garden'));
  await page.getByText('Moved to "Garden".').waitFor();
  await row(page, 'Quinces one').waitFor({ state: 'detached' });
  await page.keyboard.press('z');
  await row(page, 'Quinces one').waitFor();
  for (const one of ['one', 'two']) await page.getByLabel(`Select Quinces ${one}`).check();
  await row(page, 'Quinces two').locator('a').dragTo(folder(page, 'Garden'));
  await row(page, 'Quinces one').waitFor({ state: 'detached' });
  await row(page, 'Quinces two').waitFor({ state: 'detached' });
  await row(page, 'Quinces three').locator('a').click();
  await page.locator('.thread-bar .move').waitFor();
  await page.keyboard.press('v');
  const garden = page.locator('.thread-bar .move').getByRole('button', { name: 'Garden' });
  await garden.waitFor();
  await garden.press('Enter');
  await row(page, 'Quinces three').waitFor({ state: 'detached' });

  await menu(page, 'Garden').press('Enter');
  await page.keyboard.press('Escape');
  await menu(page, 'Garden').and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Rename "Garden"' }).waitFor();
  await page.keyboard.type('Orchard');
  await page.keyboard.press('Enter');
  await page.getByText('Renamed to "Orchard".').waitFor();
  await menu(page, 'Orchard').press('Enter');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.getByText('3 messages move to "Trash".').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await page.getByText('Folder "Orchard" deleted.').waitFor();
  await folder(page, 'Orchard').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /Trash/ }).click();
  for (const one of ['one', 'two', 'three']) await row(page, `Quinces ${one}`).waitFor();
  expect(wrong).toEqual([]);
  await context.close();
});

test('a folder with subfolders is deleted with them; Cancel and a taken name change nothing', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await deliver('In the inner folder');
  await signIn(page);
  await create(page, 'Outer');
  await menu(page, 'Outer').click();
  await item(page, 'New folder inside').click();
  await page.getByRole('dialog', { name: 'New folder in "Outer"' }).getByLabel('Name').fill('Inner');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Inner' }).waitFor();
  await page.getByRole('link', { name: /Inbox/ }).click();
  await row(page, 'In the inner folder').locator('a').dragTo(folder(page, 'Inner'));
  await page.getByText('Moved to "Inner".').waitFor();

  await page.getByRole('button', { name: 'New folder' }).click();
  await page.getByLabel('Name').fill('Outer');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('There is a folder "Outer" already.').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await folder(page, 'Outer').click({ button: 'right' });
  await item(page, 'Delete').click();
  await page.getByText('Its subfolder is deleted with it.').waitFor();
  await page.getByText('1 message moves to "Trash".').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await folder(page, 'Inner').waitFor();
  await menu(page, 'Outer').click();
  await item(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await folder(page, 'Inner').waitFor({ state: 'detached' });
  await folder(page, 'Outer').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /Trash/ }).click();
  await row(page, 'In the inner folder').waitFor();
  expect(wrong).toEqual([]);
  await context.close();
});

test.each([
  ['light', 1280],
  ['dark', 390],
] as const)('a special folder is not deleted, and says why: %s', async (colorScheme, width) => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width, height: 844 }, colorScheme });
  await signIn(page);
  if (width < 800) await page.getByRole('button', { name: 'Folders' }).click();
  for (const name of ['Inbox', 'Sent']) {
    await menu(page, name).click();
    await page.getByText('Mail programs need this folder, so it cannot be renamed or deleted.').waitFor();
    expect(await item(page, 'Delete').getAttribute('aria-disabled')).toBe('true');
    expect(await violations(page)).toEqual([]);
    await item(page, 'Delete').click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Escape');
  }
  expect(wrong).toEqual([]);
  await context.close();
});

/** Moves the message with a subject to Archive, as another program of the same person does. */
const archiveElsewhere = (page: Page, subject: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const session = await (await fetch('/mail/jmap/session')).json();
    const accountId = Object.keys(session.accounts)[0];
    const call = async (name, args) => {
      const body = JSON.stringify({ using: Object.keys(session.capabilities), methodCalls: [[name, { accountId, ...args }, '0']] });
      const response = await fetch('/mail/jmap/api', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return (await response.json()).methodResponses[0][1];
    };
    const { list } = await call('Mailbox/get', { ids: null });
    const archive = list.find(({ role }) => role === 'archive').id;
    const { ids } = await call('Email/query', { filter: { subject: '${subject}' } });
    const { updated } = await call('Email/set', { update: { [ids[0]]: { mailboxIds: { [archive]: true } } } });
    if (updated === null) throw new Error('not moved');
  })()`);

test.each([
  ['light', 1280],
  ['dark', 390],
] as const)(
  'the deletion of a folder is taken back: its subfolder, messages and shares return: %s',
  async (colorScheme, width) => {
    const { page, context, wrong } = await watchedPage(browser, base, {
      viewport: { width: 1280, height: 844 },
      colorScheme,
    });
    const [jam, wine, tart] = [`Jam ${colorScheme}`, `Wine ${colorScheme}`, `Tart ${colorScheme}`];
    const [outer, inner] = [`Cellar ${colorScheme}`, `Shelf ${colorScheme}`];
    await deliver(jam, wine, tart);
    await signIn(page);
    await create(page, outer);
    await menu(page, outer).click();
    await item(page, 'New folder inside').click();
    await page.getByRole('dialog').getByLabel('Name').fill(inner);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: inner }).waitFor();
    await page.getByRole('link', { name: /Inbox/ }).click();
    await page.getByRole('button', { name: `Add star to ${wine}` }).click();
    await page.getByRole('button', { name: `Remove star from ${wine}` }).waitFor();
    for (const [subject, to] of [
      [jam, outer],
      [tart, outer],
      [wine, inner],
    ] as const) {
      await row(page, subject).locator('a').dragTo(folder(page, to));
      await row(page, subject).waitFor({ state: 'detached' });
    }
    await box.ask('share_folder', { address: box.address, folder: outer, withAddress: ANN, access: 'write' });
    await folder(page, inner).locator('a').click();
    await row(page, wine).waitFor();

    await page.setViewportSize({ width, height: 844 });
    const showFolders = async (): Promise<void> => {
      if (width < 800) await page.getByRole('button', { name: 'Folders' }).click();
    };
    await showFolders();
    await menu(page, outer).click();
    await item(page, 'Delete').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText(`Folder "${outer}" deleted.`).waitFor();
    await folder(page, inner).waitFor({ state: 'detached' });
    expect(await box.ask('list_folder_shares', { address: box.address })).toMatchObject({ shares: [] });
    // A message that is moved on from Trash meanwhile stays where it is.
    await archiveElsewhere(page, tart);
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click();
    await page.getByText(`Folder "${outer}" restored.`).waitFor();
    await page.getByRole('heading', { name: inner }).waitFor();
    await row(page, wine).waitFor();
    await page.getByRole('button', { name: `Remove star from ${wine}` }).waitFor();
    expect(await violations(page)).toEqual([]);
    await folder(page, outer).locator('a').click();
    await row(page, jam).waitFor();
    expect(await row(page, tart).count()).toBe(0);
    await showFolders();
    await page.getByRole('link', { name: /Archive/ }).click();
    await row(page, tart).waitFor();
    expect(await box.ask('list_folder_shares', { address: box.address })).toMatchObject({
      shares: [{ folder: outer, withAddress: ANN, access: 'write' }],
    });
    await box.ask('share_folder', { address: box.address, folder: outer, withAddress: ANN, access: 'none' });
    expect(wrong).toEqual([]);
    await context.close();
  },
);

test('an undo that fails midway goes on with the next one', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await deliver('Half a pear');
  await signIn(page);
  await create(page, 'Basket');
  await page.getByRole('link', { name: /Inbox/ }).click();
  await row(page, 'Half a pear').locator('a').dragTo(folder(page, 'Basket'));
  await row(page, 'Half a pear').waitFor({ state: 'detached' });
  await menu(page, 'Basket').click();
  await item(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Folder "Basket" deleted.').waitFor();
  await page.route('**/mail/jmap/api', async (route) => {
    if (route.request().postData()?.includes('"Email/set"') !== true) return route.continue();
    const methodResponses = [['error', { type: 'serverFail', description: 'The disk is full.' }, '0']];
    return route.fulfill({ json: { methodResponses, sessionState: '' } });
  });
  await page.keyboard.press('z');
  await page.getByText('The disk is full.').waitFor();
  await page.unroute('**/mail/jmap/api');
  await page.keyboard.press('z');
  await page.getByText('Folder "Basket" restored.').waitFor();
  expect(await folder(page, 'Basket').count()).toBe(1);
  await folder(page, 'Basket').locator('a').click();
  await row(page, 'Half a pear').waitFor();
  expect(wrong).toEqual([]);
  await context.close();
});

test('a deletion that fails midway says so, and is taken back', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await deliver('Half a plum');
  await signIn(page);
  await create(page, 'Larder');
  await page.getByRole('link', { name: /Inbox/ }).click();
  await row(page, 'Half a plum').locator('a').dragTo(folder(page, 'Larder'));
  await row(page, 'Half a plum').waitFor({ state: 'detached' });
  await page.route('**/mail/jmap/api', async (route) => {
    if (route.request().postData()?.includes('"destroy"') !== true) return route.continue();
    const methodResponses = [['error', { type: 'serverFail', description: 'The disk is full.' }, '0']];
    return route.fulfill({ json: { methodResponses, sessionState: '' } });
  });
  await menu(page, 'Larder').click();
  await item(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Stopped after 1 of 1. The disk is full.').waitFor();
  await page.unroute('**/mail/jmap/api');
  await page.getByRole('link', { name: /Trash/ }).click();
  await row(page, 'Half a plum').waitFor();
  await page.keyboard.press('z');
  await page.getByText('Folder "Larder" restored.').waitFor();
  expect(await folder(page, 'Larder').count()).toBe(1);
  await folder(page, 'Larder').locator('a').click();
  await row(page, 'Half a plum').waitFor();
  expect(wrong).toEqual([]);
  await context.close();
});

test('a deletion shows its progress, stops between two batches, and is taken back', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await deliver('A whole plum');
  await signIn(page);
  await create(page, 'Pantry');
  await page.getByRole('link', { name: /Inbox/ }).click();
  await row(page, 'A whole plum').locator('a').dragTo(folder(page, 'Pantry'));
  await row(page, 'A whole plum').waitFor({ state: 'detached' });
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  await page.route('**/mail/jmap/api', async (route) => {
    if (route.request().postData()?.includes('"Email/set"') === true) await stopped;
    await route.continue();
  });
  await menu(page, 'Pantry').click();
  await item(page, 'Delete').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Delete folder: 0 of 1').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  stop();
  await page.getByText('Stopped after 1 of 1.').waitFor();
  await page.unroute('**/mail/jmap/api');
  await folder(page, 'Pantry').locator('a').click();
  await page.keyboard.press('z');
  await page.getByText('Folder "Pantry" restored.').waitFor();
  await row(page, 'A whole plum').waitFor();
  expect(wrong).toEqual([]);
  await context.close();
});
