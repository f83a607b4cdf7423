import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { openBrowser, watchedPage, type Watched } from './chromium.ts';

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
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

/** Delivers a message; false if it was refused. */
async function deliver(from: string, subject: string): Promise<boolean> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  try {
    await transport.sendMail({ to: box.address, from, subject, text: `Text of ${subject}.` });
    return true;
  } catch {
    return false;
  } finally {
    transport.close();
  }
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.getByLabel('Mail address').fill(box.address);
  await page.getByLabel('Password').fill(box.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('region', { name: 'Messages' }).waitFor();
}

/** Violations of WCAG 2.2 AA that axe-core finds, by rule. */
async function violations(page: Page): Promise<string[]> {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source);
  const options = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], iframes: false };
  const found = await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`);
  const { violations: all } = found as { violations: { id: string; nodes: { html: string }[] }[] };
  return all.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
}

describe.each([
  ['desktop', { width: 1280, height: 860 }],
  ['phone', { width: 390, height: 844 }],
])('senders, on a %s', (where, viewport) => {
  beforeEach(async () => {
    watched = await watchedPage(browser, base, { viewport });
    return () => watched.context.close();
  });

  test('a sender is blocked from a message by the keyboard, and may write again after Undo', async () => {
    const { page, wrong } = watched;
    const sender = `shop@${where}.example`;
    expect(await deliver(sender, `Offer on a ${where}`)).toBe(true);
    await signIn(page);
    await page.locator('.row a', { hasText: `Offer on a ${where}` }).click();
    const more = page.locator('.answer summary', { hasText: 'More' });
    await more.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: `Block ${sender}` }).focus();
    await page.keyboard.press('Enter');
    await page.getByText(`Blocked: mail from ${sender} is refused.`).waitFor();
    expect(await deliver(sender, 'Refused')).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('status').getByText('Blocked:').waitFor({ state: 'hidden' });
    expect(await deliver(sender, `Second offer on a ${where}`)).toBe(true);
    expect(wrong).toEqual([]);
  });

  test('the settings list blocked and allowed senders, add them and unblock them', async () => {
    const { page, wrong } = watched;
    await signIn(page);
    await page.goto(`${base}/mail#/settings`);
    const list = page.getByRole('group', { name: 'Blocked and allowed senders' });
    await list.getByLabel('Address or domain').fill(`${where}.test`);
    await list.getByRole('button', { name: 'Block', exact: true }).click();
    await list
      .getByRole('listitem')
      .filter({ hasText: `${where}.test` })
      .getByText('Blocked')
      .waitFor();
    await list.getByLabel('Address or domain').fill('not an address');
    await list.getByRole('button', { name: 'Always allow' }).click();
    await page.getByText('Give an address (ann@shop.example)').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(await deliver(`ann@${where}.test`, 'Refused')).toBe(false);
    await list.getByRole('button', { name: `Unblock ${where}.test` }).click();
    await page.getByText('Sender unblocked.').waitFor();
    expect(await deliver(`ann@${where}.test`, 'Welcome again')).toBe(true);
    // The browser reports the refused form.
    expect(wrong.filter((one) => !one.includes('422'))).toEqual([]);
  });

  test('the composer names a stranger among colleagues, and nobody otherwise', async () => {
    const { page, wrong } = watched;
    await signIn(page);
    if (viewport.width < 800) await page.getByRole('button', { name: 'Folders' }).click();
    await page.getByRole('button', { name: 'Write' }).click();
    const composer = page.getByRole('dialog', { name: 'New message' });
    await composer.getByLabel('To', { exact: true }).fill('ada@example.test');
    expect(await composer.getByText('Outside your organization').count()).toBe(0);
    await composer.getByLabel('To', { exact: true }).fill('anna@box.test, ada@example.test');
    await composer.getByText('Outside your organization: ada@example.test').waitFor();
    expect(await violations(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });
});
