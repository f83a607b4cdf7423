import { createTransport } from 'nodemailer';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { violations } from './axe.ts';
import { openBrowser, watchedPage } from './chromium.ts';

/** More than one window of the list, and more than one batch. */
const COUNT = 130;
const API = '**/mail/jmap/api';

let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
  await deliver(...Array.from({ length: COUNT }, (_, at) => `Flyer ${at}`));
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

async function deliver(...subjects: string[]): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('smtp'),
    secure: false,
    ignoreTLS: true,
    pool: true,
    maxConnections: 4,
  });
  await Promise.all(
    subjects.map((subject) =>
      transport.sendMail({ to: box.address, from: 'Ada <ada@example.test>', subject, text: `Text of ${subject}.` }),
    ),
  );
  transport.close();
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await counted(page, COUNT);
}

const counted = (page: Page, count: number): Promise<void> =>
  page
    .locator('.list-head')
    .getByText(count === 1 ? '1 conversation' : `${count} conversations`, { exact: true })
    .waitFor();
const row = (page: Page, text: string) => page.locator('.row', { hasText: text });
const all = (page: Page) => page.getByRole('checkbox', { name: /^Select all \d+ conversations$/ });
const act = (page: Page, name: string) =>
  page.getByRole('toolbar', { name: 'Selected conversations' }).getByRole('button', { name });
const undo = (page: Page) => page.getByRole('status').getByRole('button', { name: 'Undo' });

/** Numbers of emails that each Email/set of the page changed. */
function sentChanges(page: Page): number[] {
  const counts: number[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/mail/jmap/api')) return;
    const calls = (request.postDataJSON() as { methodCalls?: [string, Record<string, object>][] } | null)?.methodCalls;
    for (const [name, args] of calls ?? [])
      if (name === 'Email/set') counts.push(Object.keys(args['update'] ?? {}).length);
  });
  return counts;
}

test.each([
  ['desktop, light', 1280, 'light'],
  ['phone, dark', 390, 'dark'],
] as const)(
  'all conversations but one are archived, marked and labelled, and that is taken back: %s',
  async (_name, width, colorScheme) => {
    const { page, context, wrong } = await watchedPage(browser, base, {
      viewport: { width, height: 844 },
      colorScheme,
    });
    await signIn(page);
    const counts = sentChanges(page);
    await all(page).check();
    await page.getByText(`${COUNT} selected`).waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    const [first = ''] = await page.locator('.row .subject').allTextContents();
    const [subject = ''] = /Flyer \d+$/.exec(first.trim()) ?? [];
    await page.getByLabel(`Select ${subject}`, { exact: true }).uncheck();
    await page.getByText(`${COUNT - 1} selected`).waitFor();
    expect(await page.evaluate(`document.querySelector('.select-all').indeterminate`)).toBe(true);
    await act(page, 'Archive').click();
    await page.getByText(`${COUNT - 1} conversations moved to "Archive".`).waitFor();
    await counted(page, 1);
    await row(page, subject).waitFor();
    expect(await violations(page)).toEqual([]);
    await undo(page).click();
    await page.getByText('Undone.').waitFor();
    await counted(page, COUNT);
    expect(counts.reduce((sum, one) => sum + one, 0)).toBe(2 * (COUNT - 1));
    expect(Math.max(...counts)).toBeLessThanOrEqual(500);

    await all(page).check();
    await act(page, 'Mark as read').click();
    await page.getByText(`${COUNT} conversations changed.`).waitFor();
    await expect.poll(() => page.locator('.row.unread').count()).toBe(0);
    await undo(page).click();
    await page.getByText('Undone.').waitFor();
    await expect.poll(() => page.locator('.row.unread').count()).toBeGreaterThan(5);

    await all(page).check();
    await page.locator('.selection .labels summary').click();
    await page.getByLabel('New label').fill(`sale-${colorScheme}`);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText(`${COUNT} conversations changed.`).waitFor();
    await row(page, subject).getByText(`sale-${colorScheme}`).waitFor();
    await page.getByLabel('Search mail').fill(`label:sale-${colorScheme}`);
    await page.keyboard.press('Enter');
    await counted(page, COUNT);
    expect(wrong).toEqual([]);
    await context.close();
  },
);

/** Answers the Email/set of the page, from the second one of them on, by `answer`; the first waits until it is released. */
async function holdFirstChange(page: Page, answer: (route: Route) => Promise<void>): Promise<() => void> {
  const held = Promise.withResolvers<void>();
  let changes = 0;
  await page.route(API, async (route) => {
    if (route.request().postData()?.includes('"Email/set"') !== true) return route.continue();
    if (++changes > 1) return answer(route);
    await held.promise;
    return route.continue();
  });
  return held.resolve;
}

test('an action is stopped by the keyboard; mail that arrives meanwhile is left alone', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  const release = await holdFirstChange(page, (route) => route.continue());
  await page.locator('.row a').first().focus();
  for (const [key, selected] of [
    ['x', 1],
    ['*', COUNT],
  ] as const) {
    await page.keyboard.press(key);
    await page.getByText(`${selected} selected`, { exact: true }).waitFor();
  }
  await act(page, 'Move to trash').press('Enter');
  await page.getByText(`Move to trash: 0 of ${COUNT}`).waitFor();
  await page.getByRole('button', { name: 'Stop' }).and(page.locator(':focus')).waitFor();
  expect(await violations(page)).toEqual([]);
  await deliver('A newcomer');
  await row(page, 'A newcomer').waitFor();
  // One at a time: the second would act on what the first moves.
  await all(page).check();
  await act(page, 'Report as junk').click();
  await page.getByText('Another action on many messages is running.').waitFor();
  await page.getByRole('button', { name: 'Stop' }).press('Enter');
  await page.getByText('Stopping ...').waitFor();
  release();
  await page.getByText(`Stopped after 100 of ${COUNT}.`).waitFor();
  await page.getByRole('button', { name: 'Clear selection' }).click();
  await counted(page, COUNT + 1 - 100);
  await row(page, 'A newcomer').waitFor();
  await page.unroute(API);
  await page.keyboard.press('z');
  await page.getByText('Undone.').waitFor();
  await counted(page, COUNT + 1);
  await row(page, 'A newcomer').locator('a').click();
  await page.locator('.thread-bar').getByRole('button', { name: 'Archive' }).click();
  await counted(page, COUNT);
  expect(wrong).toEqual([]);
  await context.close();
});

test('an action that fails midway says how far it came and why, and offers to take that back', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, {
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  });
  await signIn(page);
  const methodResponses = [['error', { type: 'serverFail', description: 'The disk is full.' }, '0']];
  const release = await holdFirstChange(page, (route) =>
    route.fulfill({ json: { methodResponses, sessionState: '' } }),
  );
  release();
  await all(page).check();
  await act(page, 'Archive').click();
  await page.getByText(`Stopped after 100 of ${COUNT}. The disk is full.`).waitFor();
  expect(await violations(page)).toEqual([]);
  await counted(page, COUNT - 100);
  await page.unroute(API);
  await undo(page).click();
  await page.getByText('Undone.').waitFor();
  await counted(page, COUNT);
  expect(wrong).toEqual([]);
  await context.close();
});

test('all results of a search are dragged to Trash, and Trash is emptied after a question', async () => {
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  await signIn(page);
  await page.getByLabel('Search mail').fill('subject:Flyer');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Results for "subject:Flyer"' }).waitFor();
  await counted(page, COUNT);
  await all(page).check();
  await page
    .locator('.row a')
    .first()
    .dragTo(page.locator('.folder', { hasText: 'Trash' }));
  await page.getByText(`${COUNT} conversations moved to "Trash".`).waitFor();
  await page.getByRole('link', { name: /Trash/ }).click();
  await counted(page, COUNT);
  const questions: string[] = [];
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void (questions.length === 1 ? dialog.dismiss() : dialog.accept());
  });
  await all(page).check();
  await act(page, 'Delete for ever').click();
  await act(page, 'Delete for ever').click();
  await page.getByText(`${COUNT} conversations deleted.`).waitFor();
  await page.getByText('No messages here.').waitFor();
  expect(questions).toEqual([
    `Delete all ${COUNT} conversations for ever?`,
    `Delete all ${COUNT} conversations for ever?`,
  ]);
  expect(wrong).toEqual([]);
  await context.close();
});
