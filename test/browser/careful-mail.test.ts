import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { openBrowser, watchedPage, type Watched } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;
let watched: Watched;
let page: Page;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8', SPAM_CHECKS: 'off' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});
beforeEach(async () => {
  watched = await watchedPage(browser, base, { viewport: { width: 1280, height: 860 } });
  ({ page } = watched);
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
  return () => watched.context.close();
});

/** A red dot. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';

async function deliver(subject: string, rest: string, from = 'Ada Lovelace <ada@example.test>'): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const raw = `From: ${from}\r\nTo: ${box.address}\r\nSubject: ${subject}\r\nMessage-ID: <${subject.replaceAll(' ', '-')}@example.test>\r\n${rest.replaceAll('\n', '\r\n')}`;
  await transport.sendMail({ envelope: { from: 'ada@example.test', to: box.address }, raw });
  transport.close();
}

const row = (text: string) => page.locator('.row a', { hasText: text });
const folder = (name: string) => page.getByRole('navigation').getByRole('link', { name: new RegExp(`^${name}`) });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const field = () => page.getByRole('textbox', { name: 'Message', exact: true });
/** Bodies of the requests to JMAP that name a method. */
function calls(method: string): string[] {
  const found: string[] = [];
  page.on('request', (request) => {
    const body = request.postData() ?? '';
    if (request.url().endsWith('/api') && body.includes(`"${method}"`)) found.push(body);
  });
  return found;
}

/** Answers what the page asks. */
async function answerQuestions(answer: boolean): Promise<void> {
  await page.evaluate(`window.confirm = () => ${answer}`);
}

async function write(to: string, subject: string, text: string): Promise<void> {
  await button('Write').click();
  await page.getByLabel('To', { exact: true }).fill(to);
  await page.getByLabel('Subject').fill(subject);
  await field().click();
  await page.keyboard.type(text);
}

test('a photo and a list footer that are parts of the text are shown, and go on with a forward', async () => {
  const photo = `Content-Type: image/png; name="holiday.png"\nContent-Transfer-Encoding: base64\nContent-Disposition: inline; filename="holiday.png"\n\n${PNG}\n`;
  await deliver(
    'Holiday photo',
    `MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>Look at <b>this</b></p>\n--b\n${photo}--b\nContent-Type: text/plain\n\n-- footer of the list <none>\n--b--\n`,
  );
  await row('Holiday photo').click();
  await page.getByRole('img', { name: 'holiday.png' }).waitFor();
  await page.getByRole('link', { name: 'Download holiday.png' }).waitFor();
  const frame = page.frameLocator('iframe.message-frame');
  await frame.getByText('Look at this').waitFor();
  await frame.getByText('footer of the list <none>').waitFor();
  await page.locator('.answer').getByRole('button', { name: 'Forward' }).click();
  await page.locator('.composer .files', { hasText: 'holiday.png' }).waitFor();
  expect(watched.wrong).toEqual([]);
});

test('two presses of Send send once', async () => {
  const submissions = calls('EmailSubmission/set');
  await page.route('**/api', async (route) => {
    if (route.request().postData()?.includes('EmailSubmission/set') === true)
      await new Promise((resolve) => setTimeout(resolve, 500));
    await route.continue();
  });
  await write('bob@remote.test', 'Only once', 'Hello');
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('status').filter({ hasText: 'Sent' }).waitFor();
  await folder('Sent').click();
  await row('Only once').waitFor();
  expect(await row('Only once').count()).toBe(1);
  expect(submissions.filter((body) => body.includes('"create"'))).toHaveLength(1);
});

test('a message that is taken back replaces none that is written meanwhile', async () => {
  await write('bob@remote.test', 'Taken back', 'First');
  await page.keyboard.press('Control+Enter');
  await button('Undo').waitFor();
  await write('bob@remote.test', 'Written meanwhile', 'Second');
  await button('Undo').click();
  await page.locator('.composer h2', { hasText: 'Taken back' }).waitFor();
  await page.getByRole('button', { name: 'Save draft and close' }).click();
  await folder('Drafts').click();
  await row('Written meanwhile').waitFor();
  await expect.poll(() => row('Taken back').count()).toBe(1);
});

test('Delete for ever asks first in an open conversation too', async () => {
  await deliver('Doomed', 'Content-Type: text/plain\n\nbye\n');
  await row('Doomed').click();
  await page.locator('.thread-bar').getByRole('button', { name: 'Move to Trash' }).click();
  await folder('Trash').click();
  await row('Doomed').click();
  await answerQuestions(false);
  await page.locator('.thread-bar').getByRole('button', { name: 'Delete for ever' }).click();
  await page.locator('.thread h1', { hasText: 'Doomed' }).waitFor();
  await answerQuestions(true);
  await page.locator('.thread-bar').getByRole('button', { name: 'Delete for ever' }).click();
  await row('Doomed').waitFor({ state: 'detached' });
});

test('an answer beside an open message says why it does not begin, and a draft in a conversation can be edited', async () => {
  await deliver('Question', 'Content-Type: text/plain\n\nwhat?\n');
  await row('Question').click();
  const reply = page.locator('.answer').getByRole('button', { name: 'Reply', exact: true });
  await reply.first().click();
  await field().click();
  await page.keyboard.type('Half an answer');
  // The composer lies over it on a small screen.
  await reply.first().dispatchEvent('click');
  await page.getByText('Send or close the message that is open first.').waitFor();
  await page.getByRole('button', { name: 'Save draft and close' }).click();
  await page.getByRole('article', { name: 'Message from Me' }).getByRole('button').first().click();
  await page.getByRole('button', { name: 'Edit draft' }).click();
  await expect.poll(() => field().inputValue()).toContain('Half an answer');
});

test('a search acts on what was received, and addresses of junk are not suggested', async () => {
  await deliver('Budget talk', 'Content-Type: text/plain\n\nnumbers\n', 'Grace <grace@example.test>');
  await deliver('Prize', 'Content-Type: text/plain\n\nwin\n', 'Grace Fake <grace@evil.test>');
  await row('Budget talk').click();
  await page.locator('.answer').getByRole('button', { name: 'Reply', exact: true }).click();
  await field().click();
  await page.keyboard.type('My numbers');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('status').filter({ hasText: 'Sent' }).waitFor();
  await row('Prize').click();
  await page.locator('.thread-bar').getByRole('button', { name: 'Report as junk' }).click();
  await page.getByRole('searchbox').fill('numbers');
  await page.keyboard.press('Enter');
  await row('Budget talk').click();
  await page.locator('.thread-bar').getByRole('button', { name: 'Archive' }).click();
  await folder('Sent').click();
  await row('Budget talk').waitFor();
  await button('Write').click();
  await page.getByLabel('To', { exact: true }).pressSequentially('grace');
  await page.getByRole('option', { name: /grace@example\.test/ }).waitFor();
  expect(await page.getByRole('option', { name: /evil/ }).count()).toBe(0);
});
