import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PAGES } from '../../src/portal/pages/index.ts';
import { type PortalBox, portalBox } from '../support/visitor.ts';
import { violations } from './axe.ts';
import { openBrowser, signedInAs, type Watched, watchedPage } from './chromium.ts';

let portal: PortalBox;
let browser: Browser;

beforeAll(async () => {
  portal = await portalBox();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await portal.box[Symbol.asyncDispose]();
});

async function visiting(path: string): Promise<Watched> {
  // Without motion: colors that fade to the other theme have any contrast in between.
  const options = { timezoneId: 'Europe/Madrid', reducedMotion: 'reduce' } as const;
  const watched = await watchedPage(browser, portal.base, options);
  await signedInAs(watched, portal.base, portal.acme.owner.secret);
  await watched.page.goto(`${portal.base}${portal.acme.path}${path}`);
  return watched;
}

describe('the command palette', () => {
  test('opens by Ctrl-K, and leads to a mailbox with the keyboard only', async () => {
    const { page, context, wrong } = await visiting('/audit');
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Overview' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.type('@acme.test');
    await page.getByRole('option', { name: 'bert@acme.test' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/mailboxes\/mbx_3$/);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(wrong).toEqual([]);
    await context.close();
  });

  test('shows times in the zone of the reader, with its name', async () => {
    const { page, context } = await visiting('/audit');
    await expect.poll(() => page.locator('time').first().textContent()).toMatch(/ (?:CET|CEST|GMT[+]\d)$/);
    await context.close();
  });
});

describe('every page of an organization', () => {
  test('has no violation of WCAG 2.2 AA, and contrast in the dark theme too', async () => {
    const { page, context, wrong } = await visiting('');
    const ids = { mailboxes: 'mbx_2', domains: 'dom_2' };
    for (const { path } of PAGES) {
      const filled = path.replace(':id', ids[path.split('/')[1] as keyof typeof ids] ?? '');
      if (filled.endsWith('/')) continue;
      await page.emulateMedia({ colorScheme: 'light' });
      const answer = await page.goto(`${portal.base}${portal.acme.path}${filled}`);
      // Pages of the operator are not for this visitor.
      if (answer?.status() === 404) continue;
      await page.locator('details.agents').evaluateAll((all) => all.forEach((one) => one.setAttribute('open', '')));
      const light = await violations(page);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([filled, light, await violations(page, 'color-contrast')]).toEqual([filled, [], []]);
    }
    expect(wrong.filter((one) => !one.includes('404'))).toEqual([]);
    await context.close();
  });
});
