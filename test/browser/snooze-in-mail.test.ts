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

async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({ to: box.address, from: 'Ada <ada@example.test>', subject, text: `Text of ${subject}.` });
  transport.close();
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

const row = (page: Page, text: string) => page.locator('.row', { hasText: text });

/** Snoozes the newest email with a subject until a time, by the route of the menu: menus offer no seconds. */
const snoozeUntil = (page: Page, subject: string, until: number): Promise<unknown> =>
  page.evaluate(`(async () => {
    const { accounts } = await (await fetch('/mail/jmap/session')).json();
    const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
    const query = { accountId: Object.keys(accounts)[0], filter: { subject: ${JSON.stringify(subject)} } };
    const body = JSON.stringify({ using, methodCalls: [['Email/query', query, '0']] });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const { methodResponses } = await (await fetch('/mail/jmap/api', init)).json();
    const [email] = methodResponses[0][1].ids;
    const form = new URLSearchParams({ emails: email, lead: email, until: new Date(${until}).toISOString() });
    return (await fetch('/mail/snooze', { method: 'POST', body: form })).status;
  })()`);

describe.each([
  ['desktop', { width: 1280, height: 860 }],
  ['phone', { width: 390, height: 844 }],
])('snooze, on a %s', (where, viewport) => {
  test('a conversation leaves the inbox by the keyboard, is listed, comes back by Undo and by its end', async () => {
    const { page, context, wrong } = await watchedPage(browser, base, { viewport });
    const subject = `Later ${where}`;
    await deliver(subject);
    await signIn(page);
    await row(page, subject).locator('a').click();
    const pane = page.getByRole('region', { name: 'Conversation' });
    await pane.getByText(`Text of ${subject}.`).first().waitFor();
    await page.keyboard.press('b');
    await page
      .locator('.thread-bar .snooze')
      .getByRole('button', { name: /Tomorrow morning/ })
      .waitFor();
    expect(await violations(page)).toEqual([]);
    const menu = await page.locator('.thread-bar .snooze .menu-body').boundingBox();
    expect(menu?.x).toBeGreaterThanOrEqual(0);
    expect(menu?.y).toBeGreaterThanOrEqual(0);
    expect((menu?.x ?? 0) + (menu?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Snoozed until').waitFor();
    await row(page, subject).waitFor({ state: 'detached' });
    await page.keyboard.press('z');
    await row(page, subject).waitFor();
    await row(page, subject).getByRole('checkbox').check();
    await page.locator('.selection .snooze summary').click();
    await page
      .locator('.selection .snooze')
      .getByRole('button', { name: /Next week/ })
      .click();
    await row(page, subject).waitFor({ state: 'detached' });
    if (where === 'phone') await page.getByRole('button', { name: 'Folders' }).click();
    await page.getByRole('link', { name: /Snoozed/ }).click();
    await page.getByRole('heading', { name: 'Snoozed', level: 1 }).waitFor();
    await row(page, subject).locator('a').click();
    await page.locator('.bar', { hasText: 'Snoozed until' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'End the snooze' }).click();
    await page.locator('.bar', { hasText: 'Snoozed until' }).waitFor({ state: 'detached' });
    await page.keyboard.press('i');
    await row(page, subject).waitFor();
    expect(wrong).toEqual([]);
    await context.close();
  });

  test('it comes back at its time, unread and above newer mail, also when the box was killed meanwhile', async () => {
    const { page, context } = await watchedPage(browser, base, { viewport });
    const subject = `Again ${where}`;
    await deliver(subject);
    await signIn(page);
    await row(page, subject).waitFor();
    const until = Date.now() + 20_000;
    expect(await snoozeUntil(page, subject, until)).toBe(200);
    await row(page, subject).waitFor({ state: 'detached' });
    await deliver(`Newer ${where}`);
    await row(page, `Newer ${where}`).waitFor();
    await box.kill();
    await box.restart();
    await page.goto(`${base}/mail`);
    await page.locator('.row.unread', { hasText: subject }).waitFor({ timeout: 90_000 });
    expect(Date.now()).toBeGreaterThanOrEqual(until);
    await expect.poll(() => page.locator('.row .subject').first().textContent()).toContain(subject);
    await context.close();
  });
});
