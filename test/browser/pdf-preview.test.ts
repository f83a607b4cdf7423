import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { endlessPdf, pdf } from '../support/pdf.ts';
import { violations } from './axe.ts';
import { openBrowser, watchedPage } from './chromium.ts';
import { causesViolations } from './policy-violations.ts';

let box: Box;
let base: string;
let browser: Browser;

/** A document that asks for a script at its opening, and says it is encrypted with a password that nobody knows. */
const SCRIPTED = Buffer.from(
  pdf(['Hostile'])
    .toString('latin1')
    .replace('/Type /Catalog', '/Type /Catalog /OpenAction << /S /JavaScript /JS (pwned\\("pdf"\\)) >>'),
  'latin1',
);
const LOCKED = Buffer.from(
  pdf(['Secret'])
    .toString('latin1')
    .replace(
      '/Root 1 0 R',
      `/Root 1 0 R /ID [<${'01'.repeat(16)}> <${'01'.repeat(16)}>] /Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >>`,
    ),
  'latin1',
);

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const file = (filename: string, content: Buffer, contentType = 'application/pdf'): object => ({
    filename,
    content,
    contentType,
  });
  await transport.sendMail({
    to: box.address,
    from: 'Ada <ada@partner.test>',
    subject: 'Documents',
    text: 'See the files.',
    attachments: [
      file('invoice.pdf', pdf(['Invoice 4711', 'Second page', 'Third page']), 'application/octet-stream'),
      file('hostile.pdf', SCRIPTED),
      file('locked.pdf', LOCKED),
      file('endless.pdf', endlessPdf()),
      file('broken.pdf', Buffer.from('%PDF-1.7 and nothing more')),
    ],
  });
  transport.close();
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

/** Dark pixels of the first page: what was drawn on it. */
const INK = `(() => {
  const canvas = document.querySelector('canvas');
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext('2d');
  context.drawImage(canvas, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  return data.reduce((sum, octet, at) => sum + (at % 4 === 0 && octet < 100 && data[at + 3] > 200 ? 1 : 0), 0);
})()`;

causesViolations(
  /Connecting to '.*\/mail\/jmap\/session' violates/,
  /Connecting to 'https:\/\/attacker\.test\/' violates/,
  /Fetch API cannot load .*(?:\/mail\/jmap\/session|attacker\.test\/)\. Refused to connect/,
  /\/mail\/pdf Loading the image '.*\/mail\/icon\.svg' violates/,
);

/** Tries to reach, from the frame, all that a document must not reach. */
const REACHED = `(async () => {
  const tries = {
    origin: () => self.origin === 'null' ? Promise.reject(new Error('none')) : true,
    parent: () => parent.document.cookie,
    cookie: () => document.cookie,
    storage: () => localStorage.length,
    mail: () => fetch('/mail/jmap/session'),
    elsewhere: () => fetch('https://attacker.test/'),
    image: () => new Promise((ok, no) => Object.assign(new Image(), { onload: ok, onerror: no, src: '/mail/icon.svg' })),
    code: () => new Function('return 1')(),
    top: () => { top.location = 'https://attacker.test/'; },
  };
  const found = [];
  for (const [name, run] of Object.entries(tries)) await Promise.resolve().then(run).then(() => found.push(name), () => {});
  return found;
})()`;

/** Runs an expression in the frame of the document. */
function inFrame<T>(page: Page, expression: string): Promise<T> {
  const frame = page.frames().find((each) => each.url() === `${base}/mail/pdf`);
  if (frame === undefined) throw new Error('There is no frame with a document');
  return frame.evaluate<T>(expression);
}

async function openMessage(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.locator('input[type=email]').fill(box.address);
  await page.locator('input[type=password]').fill(box.password);
  await page.locator('form button').click();
  await page.locator('.row a', { hasText: 'Documents' }).click();
}

test.each([
  ['a desktop', 1280, 'Page 2 of 3', 'en-US', 'Preview', 'The file needs a password.', 'it is damaged'],
  [
    'a phone, in German',
    390,
    'Seite 2 von 3',
    'de-DE',
    'Vorschau von',
    'Die Datei braucht ein Passwort.',
    'beschädigt',
  ],
])('a PDF document is drawn in a frame that can reach nothing, on %s', async (...given) => {
  const [, width, second, locale, preview, password, damaged] = given;
  const { page, context, wrong } = await watchedPage(browser, base, { viewport: { width, height: 844 }, locale });
  await openMessage(page);
  const open = (name: string): Promise<void> => page.getByRole('button', { name: `${preview} ${name}` }).click();
  await open('invoice.pdf');
  const frame = page.frameLocator('iframe[title="invoice.pdf"]');
  const first = frame.locator('section').first();
  await first.getByText('Invoice 4711').waitFor({ state: 'attached' });
  expect(await inFrame<number>(page, INK)).toBeGreaterThan(20);
  expect(await frame.locator('section').nth(1).getAttribute('aria-label')).toBe(second);
  await frame.locator('section').nth(2).scrollIntoViewIfNeeded();
  await frame.getByText('Third page').waitFor({ state: 'attached' });
  expect(await violations(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  await open('locked.pdf');
  await page.getByText(password).waitFor();
  await open('broken.pdf');
  await page.getByText(damaged).waitFor();
  expect(wrong).toEqual([]);
  await context.close();
});

test('what runs in the frame of a document has no origin, no cookie, no mail and no network', async () => {
  const { page, context, wrong } = await watchedPage(browser, base);
  await openMessage(page);
  await page.getByRole('button', { name: 'Preview hostile.pdf' }).click();
  const text = page.frameLocator('iframe[title="hostile.pdf"]').getByText('Hostile');
  await text.waitFor({ state: 'attached' });
  expect(wrong).toEqual([]);
  expect(await inFrame<string[]>(page, REACHED)).toEqual([]);
  expect(page.url()).toContain('/mail');
  await context.close();
});

test('a document whose drawing never ends is given up, without holding the page', async () => {
  const { page, context, wrong } = await watchedPage(browser, base);
  await openMessage(page);
  await page.getByRole('button', { name: 'Preview endless.pdf' }).click();
  await page.locator('iframe[title="endless.pdf"]').scrollIntoViewIfNeeded();
  await page.getByText('The file takes too long to show.').waitFor({ timeout: 60_000 });
  expect(wrong).toEqual([]);
  await context.close();
});
