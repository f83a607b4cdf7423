import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { openBrowser, watchedPage, type Watched } from './chromium.ts';
import { causesViolations, INERT_PARSER } from './policy-violations.ts';

causesViolations(INERT_PARSER);

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

/** A red dot. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==',
  'base64',
);

async function deliver(mail: Parameters<ReturnType<typeof createTransport>['sendMail']>[0]): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({ to: box.address, from: 'Ada Lovelace <ada@example.test>', ...mail });
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
const field = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
/** The next saved draft that has this text. */
const saved = (page: Page, text: string) =>
  page.waitForRequest((request) => request.postData()?.includes(text) === true && request.url().endsWith('/api'));

/** The body parts of the draft that a request saves. */
function bodyOf(postData: string | null): { text: string; markup: string; attachments: Record<string, unknown>[] } {
  const { methodCalls } = JSON.parse(postData ?? '{}');
  const { bodyValues, attachments } = methodCalls[0][1].create.draft;
  return { text: bodyValues.text.value, markup: bodyValues.markup?.value ?? '', attachments };
}

test('formatted text is sent clean, with the same in plain text', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByLabel('To', { exact: true }).fill(box.address);
  await page.getByLabel('Subject').fill('Formatted');
  await page.getByRole('button', { name: 'Bold' }).waitFor();
  await field(page).click();
  await page.keyboard.press('Control+b');
  await page.keyboard.type('Loud');
  await page.keyboard.press('Control+b');
  await page.keyboard.type(' and quiet');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Bulleted list' }).click();
  const draft = saved(page, 'second point');
  await page.keyboard.type('first point');
  await page.keyboard.press('Enter');
  await page.keyboard.type('second point');
  const body = bodyOf((await draft).postData());
  expect(body.text).toMatch(/^Loud and quiet\n+- first point\n- second point$/);
  expect(body.markup).toMatch(/<b>Loud<\/b>(?: |&nbsp;)and quiet/);
  expect(body.markup).toMatch(/<ul><li>.*first point.*<\/li><li>.*second point.*<\/li><\/ul>/);
  expect(body.markup).not.toMatch(/class=|data-|<script/);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Sent.').waitFor();
  expect(wrong).toEqual([]);
});

test('what is pasted runs nothing, loads nothing and brings no styles', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByRole('button', { name: 'Bold' }).waitFor();
  await field(page).click();
  const hostile =
    '<p style="color:red" onclick="pwned(1)">kept <b>words</b><img src="https://evil.test/1" onerror="pwned(2)">' +
    '<a href="javascript:pwned(3)">link</a><svg onload="pwned(4)"></svg><style>@import "//evil.test/2";</style></p>';
  const draft = saved(page, 'kept');
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/html', ${JSON.stringify(hostile)});
    const target = document.querySelector('.rich-text');
    target.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  })()`);
  const body = bodyOf((await draft).postData());
  expect(body.markup).toMatch(/kept <b>words<\/b>/);
  expect(body.markup).not.toMatch(/style=|onclick|onerror|evil\.test|javascript|<svg|@import/);
  // Chromium reports the handlers that the inert parser meets, by the policy of its document.
  expect(wrong.filter((one) => !one.includes('event handler violates'))).toEqual([]);
});

test('an image in the text is a part of the message, and comes back with the draft', async () => {
  const { page, wrong } = watched;
  await signIn(page);
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByLabel('Subject').fill('With a picture');
  await page.getByRole('button', { name: 'Bold' }).waitFor();
  await field(page).click();
  const draft = saved(page, 'cid:');
  await page
    .locator('.editor-bar input[type=file]')
    .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PNG });
  const body = bodyOf((await draft).postData());
  const [, cid] = /src="cid:([^"]+)"/.exec(body.markup) ?? [];
  expect(body.attachments).toEqual([expect.objectContaining({ cid, disposition: 'inline', type: 'image/png' })]);
  expect(body.text).toBe('[dot.png]');
  await page.getByRole('button', { name: 'Save draft and close' }).click();
  await page.getByText('Draft saved.').waitFor();
  await page.getByRole('link', { name: /Drafts/ }).click();
  await row(page, 'With a picture').click();
  await field(page).locator('img').waitFor();
  await expect.poll(() => page.evaluate(`document.querySelector('.rich-text img').naturalWidth`)).toBe(5);
  expect(wrong).toEqual([]);
});

test('a formatted message is answered in its format, without its remote images', async () => {
  const { page, wrong } = watched;
  await deliver({
    subject: 'Formatted question',
    text: 'Which?',
    html: '<p>Which <i>one</i>?<img src="https://evil.test/pixel.png" alt=""><img src="cid:dot@x" alt="a dot"></p>',
    attachments: [{ filename: 'dot.png', content: PNG, cid: 'dot@x' }],
  });
  await signIn(page);
  await row(page, 'Formatted question').click();
  await page.getByRole('button', { name: 'Reply', exact: true }).click();
  await field(page).locator('blockquote i').waitFor();
  const draft = saved(page, 'This one.');
  await page.keyboard.type('This one.');
  const body = bodyOf((await draft).postData());
  expect(body.text).toMatch(/^This one\.[^]*wrote on [^]*\n> Which one\?/);
  expect(body.markup).toMatch(/<blockquote type="cite"[^>]*><p>Which <i>one<\/i>\?<img [^>]*src="cid:dot@x"/);
  expect(body.markup).not.toContain('evil.test');
  expect(wrong).toEqual([]);
});

test('plain text is chosen by a button, and remembered', async () => {
  const { page } = watched;
  await signIn(page);
  await page.getByRole('button', { name: 'Write' }).click();
  await page.getByRole('button', { name: 'Bold' }).waitFor();
  await page.getByRole('button', { name: 'Plain text' }).click();
  const draft = saved(page, 'only text');
  await field(page).fill('only text');
  expect(bodyOf((await draft).postData())).toMatchObject({ text: 'only text', markup: '' });
  await page.getByRole('button', { name: 'Save draft and close' }).click();
  await page.getByText('Draft saved.').waitFor();
  await page.getByRole('button', { name: 'Write' }).click();
  await page.locator('.composer textarea').waitFor();
});
