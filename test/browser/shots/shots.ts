/**
 * Takes screenshots of every page of the portal and of web mail, for people to look at: desktop and phone, light and dark,
 * into `.cache/shots`, which git ignores. `npm run shots [-- WORD]` takes only those whose name has the word.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { PAGES } from '../../../src/portal/pages/index.ts';
import { openBrowser } from '../chromium.ts';
import { startDemo, type Demo } from './demo.ts';

const OUT = join(import.meta.dirname, '../../../.cache/shots');
const [, , word = ''] = process.argv;

const FORMS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['desktop-light', { viewport: { width: 1280, height: 860 }, colorScheme: 'light' }],
  ['desktop-dark', { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' }],
  ['phone-light', { viewport: { width: 390, height: 800 }, colorScheme: 'light', hasTouch: true, isMobile: true }],
  ['phone-dark', { viewport: { width: 390, height: 800 }, colorScheme: 'dark', hasTouch: true, isMobile: true }],
];

/** Pages by name; ids in paths are those of the demo. */
function pathsOf(demo: Demo): [string, string][] {
  const pages = PAGES.map(({ path }): [string, string] => {
    const filled = path.replace(':id', demo.ids[path.split('/')[1] ?? ''] ?? 'none');
    return [`portal${path === '' ? '-overview' : path.replaceAll(/[/:]+/g, '-')}`, `${demo.path}${filled}`];
  });
  return [
    ...pages,
    ['portal-find', `${demo.path}/find?q=a`],
    ['portal-trace-received', `${demo.path}/trace?q=service@bank-secure.example`],
    ['portal-trace-sent', `${demo.path}/trace?q=ada@partner.example`],
    ['account', '/account'],
    ['account-security', '/account/security'],
    ['sign-in', '/login'],
  ];
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(OUT, `${name}.png`), fullPage: true });
}

/** Takes one screenshot; a page that fails is named, and the others follow. */
async function take(name: string, steps: () => Promise<void>): Promise<void> {
  try {
    await steps();
  } catch (error) {
    process.exitCode = 1;
    console.log(`failed: ${name}: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

async function portalShots(browser: Browser, demo: Demo): Promise<void> {
  for (const [form, options] of FORMS) {
    const context = await browser.newContext(options);
    await context.addCookies([{ name: 'mailstead', value: demo.secret, url: demo.base }]);
    const page = await context.newPage();
    for (const [name, path] of pathsOf(demo).filter(([one]) => one.includes(word))) {
      await take(`${name}-${form}`, async () => {
        // Pages that follow the server never end to load.
        const response = await page.goto(`${demo.base}${path}`, { waitUntil: 'domcontentloaded' });
        if (response?.status() === 404) console.log(`no such page: ${path}`);
        await shoot(page, `${name}-${form}`);
      });
    }
    if ('palette'.includes(word)) await take(`palette-${form}`, () => paletteShot(page, demo, form));
    await context.close();
  }
}

async function paletteShot(page: Page, demo: Demo, form: string): Promise<void> {
  await page.goto(`${demo.base}${demo.path}`);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('an');
  await page.getByRole('option', { name: 'anna@acme.test' }).waitFor();
  await shoot(page, `palette-${form}`);
}

async function mailShots(browser: Browser, demo: Demo): Promise<void> {
  if (!'mail'.includes(word)) return;
  for (const [form, options] of FORMS) {
    const context = await browser.newContext(options);
    await take(`mail-${form}`, async () => mailPages(await context.newPage(), demo, form));
    await context.close();
  }
}

/** Web mail: signing in, the list, messages of each kind, a message that is written, and the settings. */
async function mailPages(page: Page, demo: Demo, form: string): Promise<void> {
  await page.goto(`${demo.base}/mail`);
  await shoot(page, `mail-sign-in-${form}`);
  await page.getByLabel('Mail address').fill(demo.mailbox.address);
  await page.getByLabel('Password').fill(demo.mailbox.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.row a').first().waitFor();
  await shoot(page, `mail-list-${form}`);
  const list = page.url();
  for (const [name, subject, shown] of MESSAGES) {
    await page.goto(list);
    await page.locator('.row a', { hasText: subject }).first().click();
    await page.locator(shown).first().waitFor();
    await shoot(page, `mail-${name}-${form}`);
  }
  await page.keyboard.press('r');
  await page.locator('.composer').waitFor();
  await shoot(page, `mail-compose-${form}`);
  await page.keyboard.press('Escape');
  await page.locator('.composer').waitFor({ state: 'detached' });
  await page.evaluate(`location.hash = '#/settings'`);
  await page.getByLabel('Answer automatically').waitFor();
  await shoot(page, `mail-settings-${form}`);
}

/** Messages of the demo: name of the picture, subject, and what is there once it is open. */
const MESSAGES = [
  ['invitation', 'Loom review', '.invitation'],
  ['message', 'About the loom', '.message.open footer'],
] as const;

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
await using demo = await startDemo();
const browser = await openBrowser();
try {
  await portalShots(browser, demo);
  await mailShots(browser, demo);
} finally {
  await browser.close();
}
console.log(`screenshots are in ${OUT}`);
