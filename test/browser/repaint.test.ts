import { createTransport } from 'nodemailer';
import type { Browser, Page, Route } from 'playwright-core';
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

const row = (page: Page, text: string) => page.locator('.row', { hasText: text });
const paneOf = (page: Page) => page.getByRole('region', { name: 'Conversation' });
const labelBox = (page: Page) => paneOf(page).getByRole('checkbox', { name: 'work' });

/** Opens a new message, gives it the label `work` and opens the menu of labels. */
async function openLabeled(page: Page, subject: string): Promise<void> {
  await deliver(subject);
  await signIn(page);
  await row(page, subject).locator('a').click();
  await page.locator('.row.current:not(.unread)', { hasText: subject }).waitFor();
  await paneOf(page).getByLabel('Labels').click();
  await paneOf(page).getByLabel('New label').fill('work');
  await page.keyboard.press('Enter');
  await row(page, subject).locator('.chip', { hasText: 'work' }).waitFor();
  await paneOf(page).getByLabel('Labels').click();
}

interface Held {
  /** Resolves once so many requests are held. */
  reached: (count: number) => Promise<void>;
  release: () => Promise<void>;
}

/** Holds requests with a JMAP method back until they are released, in their order. */
async function hold(
  page: Page,
  method: string,
  finish: (route: Route) => Promise<void> = (route) => route.continue(),
): Promise<Held> {
  const held: Route[] = [];
  let isOpen = false;
  await page.route('**/mail/jmap/api', async (route) => {
    if (isOpen || route.request().postData()?.includes(`"${method}"`) !== true) return route.fallback();
    held.push(route);
  });
  return {
    reached: (count) => expect.poll(() => held.length).toBeGreaterThanOrEqual(count),
    release: async () => {
      isOpen = true;
      for (const route of held) await finish(route);
    },
  };
}

/** Delivers a message and waits until the page has painted its row: all was read and painted again. */
async function repaint(page: Page, subject: string): Promise<void> {
  await deliver(subject);
  await row(page, subject).waitFor();
}

/** Waits until what was read is painted. */
const painted = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 100)))');

/** Requests that read the open conversation. */
const READS_THREAD = 'fetchHTMLBodyValues';

test('a label and a star stay as they were clicked while new mail repaints the page', async () => {
  const { page, wrong } = watched;
  await openLabeled(page, 'Slow label');
  const changes = await hold(page, 'Email/set');
  await labelBox(page).uncheck();
  await changes.reached(1);
  const star = paneOf(page).getByRole('button', { name: 'Add star', exact: true });
  await star.click();
  const read = page.waitForResponse((response) => response.request().postData()?.includes(READS_THREAD) === true);
  await repaint(page, 'Arrives meanwhile');
  await read;
  await painted(page);
  expect(await labelBox(page).isChecked()).toBe(false);
  await paneOf(page).getByRole('button', { name: 'Remove star', exact: true }).waitFor();
  expect(await row(page, 'Slow label').locator('.chip').count()).toBe(0);
  await changes.release();
  await repaint(page, 'Arrives afterwards');
  expect(await labelBox(page).isChecked()).toBe(false);
  await page.reload();
  await row(page, 'Slow label').locator('.star[aria-pressed=true]').waitFor();
  expect(await row(page, 'Slow label').locator('.chip').count()).toBe(0);
  expect(wrong).toEqual([]);
});

test('the last of several clicks on a label counts, however late the answers are', async () => {
  const { page, wrong } = watched;
  await openLabeled(page, 'Twice clicked');
  const changes = await hold(page, 'Email/set');
  await labelBox(page).uncheck();
  await changes.reached(1);
  await labelBox(page).check();
  await labelBox(page).uncheck();
  await labelBox(page).check();
  let answered = 0;
  page.on('response', (response) => {
    if (response.request().postData()?.includes('"Email/set"') === true) answered++;
  });
  await changes.release();
  await expect.poll(() => answered).toBe(4);
  await repaint(page, 'After the clicks');
  expect(await labelBox(page).isChecked()).toBe(true);
  await page.reload();
  await row(page, 'Twice clicked').locator('.chip', { hasText: 'work' }).waitFor();
  expect(wrong).toEqual([]);
});

test('an answer that was read before a click does not turn the label back', async () => {
  const { page, wrong } = watched;
  await openLabeled(page, 'Late reading');
  const late: (() => Promise<void>)[] = [];
  await page.route('**/mail/jmap/api', async (route) => {
    if (late.length > 0 || route.request().postData()?.includes(READS_THREAD) !== true) return route.fallback();
    const response = await route.fetch();
    late.push(() => route.fulfill({ response }));
  });
  await deliver('Begins the late reading');
  await expect.poll(() => late.length).toBe(1);
  const read = page.waitForResponse((response) => response.request().postData()?.includes(READS_THREAD) === true);
  await labelBox(page).uncheck();
  await read;
  await late[0]?.();
  await painted(page);
  expect(await labelBox(page).isChecked()).toBe(false);
  expect(wrong).toEqual([]);
});

test('a label that the server did not take is shown as it is, with the reason', async () => {
  const { page } = watched;
  await openLabeled(page, 'Refused');
  const changes = await hold(page, 'Email/set', (route) => route.fulfill({ status: 503, json: { detail: 'Busy.' } }));
  await labelBox(page).uncheck();
  await changes.reached(1);
  await changes.release();
  await page.getByRole('status').getByText('Busy.').waitFor();
  await expect.poll(() => labelBox(page).isChecked()).toBe(true);
});

test('what is typed into the search field is kept when the field loses the focus', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  const search = page.getByRole('searchbox', { name: 'Search' });
  await search.fill('from:ada');
  await page.locator('.search .suggestions').waitFor();
  await page.keyboard.press('Tab');
  await page.locator('.search .suggestions').waitFor({ state: 'detached' });
  expect(await search.inputValue()).toBe('from:ada');
  await search.press('Enter');
  await page.getByRole('heading', { name: /from:ada/ }).waitFor();
  await page.getByRole('link', { name: /Inbox/ }).click();
  await expect.poll(() => search.inputValue()).toBe('');
  expect(wrong).toEqual([]);
});

test('saving one part of the settings keeps what is typed in the others', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByLabel('Answer automatically').check();
  await page.getByLabel('Response', { exact: true }).fill('Being written');
  const saving = await hold(page, 'Identity/set');
  await page.getByRole('button', { name: 'Save name and signature' }).click();
  await saving.reached(1);
  await page.getByLabel('Signature').fill('Typed while it is saved');
  await saving.release();
  await page.getByText('Name and signature saved.').waitFor();
  expect(await page.getByLabel('Signature').inputValue()).toBe('Typed while it is saved');
  expect(await page.getByLabel('Response', { exact: true }).inputValue()).toBe('Being written');
  expect(await page.getByLabel('Answer automatically').isChecked()).toBe(true);
  expect(wrong).toEqual([]);
});

test('what is done with a conversation while it loads is done when it has loaded', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  const reads = await hold(page, READS_THREAD);
  await repaint(page, 'Hasty');
  await row(page, 'Hasty').click();
  await reads.reached(1);
  await paneOf(page).getByRole('button', { name: 'Add star', exact: true }).click();
  await page.keyboard.press('v');
  await page.locator('.thread-bar .move').getByRole('button', { name: 'Archive' }).press('Enter');
  await painted(page);
  await row(page, 'Hasty').waitFor();
  await reads.release();
  await page.getByText('Moved to "Archive".').waitFor();
  await row(page, 'Hasty').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: /Archive/ }).click();
  await row(page, 'Hasty').waitFor();
  await page.locator('.row', { hasText: 'Hasty' }).getByRole('button', { name: 'Remove star' }).waitFor();
  expect(wrong).toEqual([]);
});
