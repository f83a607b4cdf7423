/**
 * Takes screenshots of every page of the portal and of web mail, for people to look at: desktop and phone, light and dark,
 * into `.cache/shots`, which git ignores. `npm run shots [-- WORD]` takes only those whose name has the word.
 */
import type { Browser, Page } from 'playwright-core';
import { LANGUAGES } from '../../../src/http/language.ts';
import { PAGES } from '../../../src/portal/pages/index.ts';
import { openBrowser } from '../chromium.ts';
import { emptyOut, FORMS, OUT, shoot, take } from './camera.ts';
import { type Demo, requireFactor, startDemo } from './demo.ts';
import { mailShots } from './mail-shots.ts';

const [, , word = ''] = process.argv;

type NamedPath = readonly [name: string, path: string];

/** Pages by name; ids in paths are those of the demo. */
function pathsOf(demo: Demo): NamedPath[] {
  const pages = PAGES.map(({ path }): NamedPath => {
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
    ['account-apps', '/account/apps'],
    ['not-found', `${demo.path}/nothing`],
  ];
}

/** Pages without a session. */
const OUTSIDE: readonly NamedPath[] = [
  ['sign-in', '/login'],
  ['password-reset', '/auth/reset'],
  ['invalid-link', '/auth/invite?token=0'],
];

/** Pages that say that something does not exist. */
const MISSING = ['not-found', 'invalid-link'];

/** Takes pages at one size and theme; those with folded forms a second time, with all of them open. */
async function pageShots(page: Page, { base }: Demo, form: string, paths: readonly NamedPath[]): Promise<void> {
  for (const [name, path] of paths.filter(([one]) => one.includes(word))) {
    await take(`${name}-${form}`, async () => {
      // Pages that follow the server never end to load.
      const response = await page.goto(`${base}${path}`, { waitUntil: 'domcontentloaded' });
      if (response?.status() === 404 && !MISSING.includes(name)) console.log(`no such page: ${path}`);
      await shoot(page, `${name}-${form}`);
      if (!(await unfold(page))) return;
      await shoot(page, `${name}-open-${form}`);
    });
  }
}

/** Opens the folded forms of a page; false if it has none. */
async function unfold(page: Page): Promise<boolean> {
  const folded = 'main details:is(.more, .sure)';
  await page.evaluate(`document.querySelectorAll('${folded}').forEach((one) => (one.open = true))`);
  return (await page.locator(folded).count()) > 0;
}

async function portalShots(browser: Browser, demo: Demo): Promise<void> {
  for (const [form, options] of FORMS) {
    const context = await browser.newContext(options);
    await pageShots(await context.newPage(), demo, form, OUTSIDE);
    await context.addCookies([{ name: 'mailstead', value: demo.secret, url: demo.base }]);
    const page = await context.newPage();
    await pageShots(page, demo, form, pathsOf(demo));
    if ('palette'.includes(word)) await take(`palette-${form}`, () => paletteShot(page, demo, form));
    await context.close();
  }
}

/** The same pages in the other languages, whose words are longer. */
async function languageShots(browser: Browser, demo: Demo): Promise<void> {
  for (const language of LANGUAGES.slice(1)) {
    for (const [form, options] of FORMS.filter(([name]) => /^desktop-light|^phone-dark/.test(name))) {
      const context = await browser.newContext({ ...options, locale: language });
      await context.addCookies([{ name: 'mailstead', value: demo.secret, url: demo.base }]);
      await pageShots(await context.newPage(), demo, `${language}-${form}`, [...OUTSIDE, ...pathsOf(demo)]);
      await context.close();
    }
  }
}

async function paletteShot(page: Page, demo: Demo, form: string): Promise<void> {
  await page.goto(`${demo.base}${demo.path}`);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('an');
  await page.getByRole('option', { name: 'anna@acme.test' }).waitFor();
  await shoot(page, `palette-${form}`);
}

/** Signing in with a second factor, and the page of somebody who has one. */
async function factorShots(browser: Browser, demo: Demo): Promise<void> {
  const { email, password } = await requireFactor(demo);
  for (const [form, options] of FORMS) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    await take(`factor-${form}`, async () => {
      await page.goto(`${demo.base}/login`);
      await page.getByLabel('Mail address').fill(email);
      await page.getByLabel('Password').fill('wrong');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await shoot(page, `sign-in-refused-${form}`);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL('**/login/step*');
      await shoot(page, `factor-${form}`);
    });
    await context.addCookies([{ name: 'mailstead', value: demo.secret, url: demo.base }]);
    await pageShots(page, demo, form, [['factor-security', '/account/security']]);
    await context.close();
  }
}

emptyOut();
await using demo = await startDemo();
const browser = await openBrowser();
try {
  await portalShots(browser, demo);
  await languageShots(browser, demo);
  if ('mail'.includes(word)) await mailShots(browser, demo);
  if ('factor'.includes(word)) await factorShots(browser, demo);
} finally {
  await browser.close();
}
console.log(`screenshots are in ${OUT}`);
