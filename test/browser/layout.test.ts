import { createTransport } from 'nodemailer';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { operatorOf, type Visitor } from '../support/visitor.ts';
import { openBrowser, signedInAs, watchedPage, type Watched } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;
let operator: Visitor;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  operator = await operatorOf(box);
  browser = await openBrowser();
  await deliver();
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

/** Two messages, one of them with a file. */
async function deliver(): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const mail = { to: box.address, from: 'Ada <ada@example.test>', text: 'It weaves.' };
  await transport.sendMail({ ...mail, subject: 'Plain' });
  await transport.sendMail({ ...mail, subject: 'Plan', attachments: [{ filename: 'plan.txt', content: 'Weave.' }] });
  transport.close();
}

/** Less than the height of two lines of a table, and more than that of one, in pixels. */
const TWO_LINES = 40;

/** Sizes of elements in the layout, as the browser measures them. */
const rectOf = async (found: Locator) => {
  const rect = await found.boundingBox();
  if (rect === null) throw new Error('not rendered');
  return rect;
};
/** Pixels between the end of one element and the begin of the next one below it. */
const gap = async (above: Locator, below: Locator): Promise<number> => {
  const { y, height } = await rectOf(above);
  return (await rectOf(below)).y - y - height;
};

async function openMail(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.locator('input[type=email]').fill(box.address);
  await page.locator('input[type=password]').fill(box.password);
  await page.locator('form button').click();
  await page.locator('.row a').nth(1).waitFor();
}

const SIZES = [
  ['desktop', { width: 1280, height: 860 }],
  ['phone', { width: 390, height: 800 }],
] as const;

describe.each(SIZES)('web mail on a %s', (_name, viewport) => {
  test.each(['en-US', 'de-DE', 'es-ES'])('cuts no words off while messages are selected: %s', async (locale) => {
    const { page, context } = await watchedPage(browser, base, { viewport, locale });
    await openMail(page);
    await page.locator('.select-all').check();
    const words = page.locator('.selection strong');
    await expect.poll(() => words.textContent()).toMatch(/^\s*2\s*2 \w+/u);
    expect(await words.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    await context.close();
  });

  test('has the star at one place in all rows, with and without an attachment', async () => {
    const { page, context } = await watchedPage(browser, base, { viewport });
    await openMail(page);
    const tops = await page
      .locator('.row')
      .evaluateAll((rows) =>
        rows.map((row) => (row.querySelector('.star')?.getBoundingClientRect().y ?? 0) - row.getBoundingClientRect().y),
      );
    expect(tops.length).toBe(2);
    expect(new Set(tops.map(Math.round)).size).toBe(1);
    await context.close();
  });
});

test('the settings of web mail begin at the top of a high window, and all fields are of one height', async () => {
  const { page, context } = await watchedPage(browser, base, { viewport: { width: 1280, height: 2400 } });
  await openMail(page);
  await page.evaluate(`location.hash = '#/settings'`);
  await page.locator('input[name=enabled]').waitFor();
  expect((await rectOf(page.locator('.settings h1'))).y).toBeLessThan(100);
  const fields = page.locator('.settings :is(input:not([type=checkbox]), select)');
  const heights = await fields.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().height)));
  expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(4);
  expect(await gap(page.locator('.settings .list-head'), page.locator('.settings fieldset').first())).toBeLessThan(60);
  await context.close();
});

describe.each(SIZES)('the portal on a %s', (name, viewport) => {
  async function open(path: string): Promise<Watched> {
    const watched = await watchedPage(browser, base, { viewport });
    await signedInAs(watched, base, operator.secret);
    await watched.page.goto(`${base}/o/org_1${path}`, { waitUntil: 'domcontentloaded' });
    return watched;
  }

  test('keeps the type of a DNS record in one line, and space below the checks of a domain', async () => {
    const { page, context } = await open('/domains');
    await page.getByRole('link', { name: 'box.test', exact: true }).first().click();
    const type = page
      .locator('td', { hasText: /^\s*CNAME\s*$/ })
      .first()
      .locator('div');
    expect((await rectOf(type)).height).toBeLessThan(TWO_LINES);
    const link = page.getByRole('link', { name: 'Reports from other servers about box.test' });
    expect(await gap(page.locator('.table').first(), link)).toBeGreaterThan(8);
    await context.close();
  });

  test('keeps space between facts and a button, and between a sentence and an empty list', async () => {
    const { page, context } = await open('/mailboxes/mbx_1/access');
    expect(await gap(page.locator('.facts'), page.getByRole('button', { name: 'Show password' }))).toBeGreaterThan(8);
    await page.goto(`${base}/o/org_1/mailboxes/mbx_1/deleted`);
    const sentence = page.getByText('Replaced versions of drafts are hidden.');
    expect(await gap(sentence, page.locator('.empty'))).toBeGreaterThan(8);
    await context.close();
  });

  test('has the filter of the log in one row where there is room, and space above the lines', async () => {
    const { page, context } = await open('/log');
    const { height } = await rectOf(page.locator('.filters'));
    if (name === 'desktop') expect(height).toBeLessThan(100);
    expect(await gap(page.getByRole('button', { name: 'Pause' }), page.locator('.log'))).toBeGreaterThan(8);
    await context.close();
  });
});
