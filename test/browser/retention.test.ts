import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { operatorOf, type Visitor } from '../support/visitor.ts';
import { violations } from './axe.ts';
import { openBrowser, signedInAs, watchedPage } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;
let owner: Visitor;
beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  owner = await operatorOf(box);
  browser = await openBrowser();
}, 300_000);
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

interface Retention {
  deletedDays: number;
  trashDays: number | null;
  junkDays: number | null;
  rules: { folder: string; days: number }[];
  holds: { reason: string }[];
}
const now = async (): Promise<Retention> => (await box.ask('get_retention')) as Retention;

test.each([
  ['a desktop', 1280, 800, true],
  ['a phone', 375, 700, true],
  ['a phone without script', 375, 700, false],
])(
  'an administrator sets ages, a folder rule and a legal hold on %s, and lifts them',
  async (_what, width, height, javaScriptEnabled) => {
    await box.ask('set_retention', { deletedDays: 30, trashDays: 30, junkDays: 30, rules: [] });
    const watched = await watchedPage(browser, base, { javaScriptEnabled, viewport: { width, height } });
    const { page, context, wrong } = watched;
    await signedInAs(watched, base, owner.secret);
    await page.goto(`${base}/o/org_1/retention`);
    const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();
    const row = (name: string) => page.getByRole('row', { name });
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    await page.getByText('No legal holds').waitFor();

    await page.getByLabel('Days for which').fill('7');
    await page.getByLabel('Days in Trash').fill('');
    await page.getByLabel('Days in Junk').fill('14');
    await press('Save periods');
    await page.getByText('Retention saved.').waitFor();
    expect(await now()).toMatchObject({ deletedDays: 7, trashDays: null, junkDays: 14 });
    expect(await row('In Trash').textContent()).toMatch(/Never\s*Never/);
    expect(await row('In Junk').textContent()).toMatch(/After 14 days there\s*After 21 days/);

    await page.getByLabel('Days in Junk').fill('soon');
    await press('Save periods');
    expect(await page.getByLabel('Days in Junk').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Days in Junk').inputValue()).toBe('soon');

    await page.getByLabel('Folder', { exact: true }).fill('Lists/Alerts');
    await page.getByLabel('Days in the folder').fill('0');
    await press('Save rule');
    await page.getByText('Enter a number of days from 1 to 36,500.', { exact: true }).waitFor();
    await page.getByLabel('Days in the folder').fill('3');
    await press('Save rule');
    await page.getByText('Folder rule saved.').waitFor();
    expect((await now()).rules).toEqual([{ folder: 'Lists/Alerts', days: 3 }]);

    await page.getByLabel('Mailbox address').fill('nobody@box.test');
    await page.getByLabel('Reason').fill('Case 12');
    await press('Place under legal hold');
    await page.getByRole('alert').waitFor();
    expect((await now()).holds).toEqual([]);
    await page.getByLabel('Mailbox address').fill(box.address);
    await press('Place under legal hold');
    await page.getByText('Mailbox placed under legal hold.').waitFor();
    expect((await now()).holds).toMatchObject([{ reason: 'Case 12' }]);
    expect(await row('Case 12').textContent()).toContain(box.address);
    expect(await page.evaluate(wide)).toBe(0);
    // axe waits for timers of the page, which need scripts.
    if (javaScriptEnabled) expect(await violations(page)).toEqual([]);

    await row('Case 12').locator('summary').click();
    await press('Lift hold');
    await page.getByText('Legal hold lifted.').waitFor();
    await press('Remove rule');
    await page.getByText('Folder rule removed.').waitFor();
    expect(await now()).toMatchObject({ rules: [], holds: [] });
    // The answer to a refused form is an error to the console.
    expect(wrong.filter((one) => !/422|404/.test(one))).toEqual([]);
    await context.close();
  },
  300_000,
);
