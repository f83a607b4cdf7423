import { createTransport } from 'nodemailer';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { violations } from './axe.ts';
import { openBrowser, watchedPage } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;

const HOSTILE = '<script>pwned("text")</script><img src=x onerror=pwned("image")>';

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({
    to: box.address,
    from: 'Ada <ada@partner.test>',
    subject: 'Files',
    text: 'See the files.',
    attachments: [
      {
        filename: 'notes.txt',
        content: Buffer.from('Caf\xe9 notes', 'latin1'),
        contentType: 'text/plain; charset=iso-8859-1',
      },
      { filename: 'page.html', content: HOSTILE, contentType: 'text/html' },
      { filename: 'long.log', content: `${'x'.repeat(200)}\n`.repeat(600), contentType: 'application/octet-stream' },
      { filename: 'picture.svg', content: '<svg xmlns="http://www.w3.org/2000/svg"/>', contentType: 'image/svg+xml' },
      { filename: 'data.bin', content: 'MZ', contentType: 'application/octet-stream' },
    ],
  });
  transport.close();
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

test.each([
  ['a desktop', 1280, 'en-US', 'Preview', 'Hide', 'The file is longer than its preview.'],
  ['a phone, in German', 390, 'de-DE', 'Vorschau von', 'ausblenden', 'Die Datei ist länger als ihre Vorschau.'],
  ['a phone, in Spanish', 390, 'es-ES', 'Vista previa de', 'Ocultar', 'El archivo es más largo que su vista previa.'],
])('files are previewed as text that does nothing, by the keyboard, on %s', async (...given) => {
  const [, width, locale, preview, hide, cut] = given;
  const options = { viewport: { width, height: 844 }, locale, reducedMotion: 'reduce' } as const;
  const { page, context, wrong } = await watchedPage(browser, base, options);
  await page.goto(`${base}/mail`);
  await page.locator('input[type=email]').fill(box.address);
  await page.locator('input[type=password]').fill(box.password);
  await page.locator('form button').click();
  await page.locator('.row a', { hasText: 'Files' }).click();
  const files = page.locator('.attachments');
  const open = async (name: string): Promise<void> => {
    await files.getByRole('button', { name: `${preview} ${name}` }).focus();
    await page.keyboard.press('Enter');
    await files.getByRole('region', { name }).waitFor();
  };
  await open('notes.txt');
  expect(await files.getByRole('region', { name: 'notes.txt' }).textContent()).toContain('Café notes');
  await open('page.html');
  expect(await files.getByRole('region', { name: 'page.html' }).textContent()).toContain(HOSTILE);
  expect(await violations(page)).toEqual([]);
  await open('long.log');
  await files.getByText(cut).waitFor();
  await files.getByRole('button', { name: new RegExp(`notes.txt ${hide}|${hide} notes.txt`) }).click();
  await files.getByRole('region', { name: 'notes.txt' }).waitFor({ state: 'detached' });
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  expect(wrong).toEqual([]);
  await context.close();
});
