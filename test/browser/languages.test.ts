import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
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

/** Delivers a conversation of its own for a test: drafts of another would join it. */
async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({ to: box.address, from: 'Ada <ada@example.test>', subject, text: 'It weaves.' });
  transport.close();
}

/** Fills in the sign-in page, which has no other fields than these two, in any language. */
async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.locator('input[type=email]').fill(box.address);
  await page.locator('input[type=password]').fill(box.password);
  await page.locator('form button').click();
  await page.locator('.rows').waitFor();
}

const htmlLanguage = (page: Page): Promise<string | null> => page.locator('html').getAttribute('lang');

const WORDS = [
  {
    locale: 'de-AT',
    language: 'de',
    signIn: 'Postfach öffnen',
    folders: ['Posteingang', 'Entwürfe', 'Gesendet', 'Archiv', 'Spam', 'Papierkorb'],
    count: /^\d+ Unterhaltung/,
    reply: 'Antworten',
    wrote: /Am .*\d{4}.* schrieb Ada:/,
    help: 'Tastenkürzel',
    moved: 'In „Archiv“ verschoben.',
    undo: 'Rückgängig',
  },
  {
    locale: 'es-MX',
    language: 'es',
    signIn: 'Abrir tu correo',
    folders: ['Bandeja de entrada', 'Borradores', 'Enviados', 'Archivo', 'Correo no deseado', 'Papelera'],
    count: /^\d+ conversaci/,
    reply: 'Responder',
    wrote: /El .*\d{4}.*, Ada escribió:/,
    help: 'Atajos de teclado',
    moved: 'Movido a «Archivo».',
    undo: 'Deshacer',
  },
] as const;

describe.each([
  ['desktop', { width: 1280, height: 860 }],
  ['phone', { width: 390, height: 844 }],
])('web mail on a %s', (where, viewport) => {
  test.each(WORDS)('follows a browser in $locale: pages, folders, dates, quotes and keys', async (words) => {
    const { page, context, wrong } = await watchedPage(browser, base, { viewport, locale: words.locale });
    const scripts: string[] = [];
    page.on('request', (request) => {
      const [, name] = /\/(mail\.\w+\.js|languages\/.*)$/.exec(new URL(request.url()).pathname) ?? [];
      if (name !== undefined && !scripts.includes(name)) scripts.push(name);
    });
    const subject = `Loom ${words.language} ${where}`;
    await deliver(subject);
    await page.goto(`${base}/mail/sign-in`);
    await page.getByRole('heading', { name: words.signIn }).waitFor();
    expect(await htmlLanguage(page)).toBe(words.language);
    expect(await violations(page)).toEqual([]);
    await signIn(page);
    expect(await htmlLanguage(page)).toBe(words.language);
    await page.locator('.list-head').getByText(words.count).waitFor();
    const names = await page.locator('nav.folders .name').allTextContents();
    expect(names).toEqual(expect.arrayContaining([...words.folders]));
    expect(await violations(page)).toEqual([]);
    await page.locator('.row a', { hasText: subject }).click();
    await page.getByRole('button', { name: words.reply, exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: words.help }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.locator('.composer').waitFor();
    await expect.poll(() => page.locator('.composer textarea').inputValue()).toMatch(words.wrote);
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.locator('.composer').waitFor({ state: 'detached' });
    await page.keyboard.press('e');
    await page.getByText(words.moved).waitFor();
    await page.getByRole('status').getByRole('button', { name: words.undo }).click();
    await page.locator('.row a', { hasText: subject }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(scripts).toEqual([`mail.${words.language}.js`]);
    expect(wrong).toEqual([]);
    await context.close();
  });

  test('keeps the language that was chosen in the settings, and says so when it has not the one of the browser', async () => {
    const { page, context, wrong } = await watchedPage(browser, base, { viewport, locale: 'fr-FR' });
    await signIn(page);
    expect(await htmlLanguage(page)).toBe('en');
    await page.evaluate(`location.hash = '#/settings'`);
    await page.getByText('Web mail is not translated into French').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByLabel('Language of web mail').selectOption('de');
    await page.getByRole('heading', { name: 'Einstellungen' }).waitFor();
    await page.getByLabel('Antwort', { exact: true }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.goto(`${base}/mail/sign-in?done=out`);
    await page.getByText('Sie sind abgemeldet.').waitFor();
    await page.goto(`${base}/mail#/settings`);
    await page.getByLabel('Sprache von Webmail').selectOption('');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(await htmlLanguage(page)).toBe('en');
    expect(wrong).toEqual([]);
    await context.close();
  });
});
