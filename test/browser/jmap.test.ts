import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { type Box, startBox } from '../support/box.ts';
import { overImap } from '../support/scenario/imap-endpoint.ts';
import { openBrowser } from './chromium.ts';
import { servePage } from './jmap-page.ts';

const ANNA = 'anna@box.test';
let box: Box;
let browser: Browser;

beforeAll(async () => {
  box = await startBox();
  await box.ask('add_mailbox', { address: ANNA, password: box.password });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
});

async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), ignoreTLS: true });
  await transport.sendMail({ from: 'carl@else.test', to: box.address, subject, text: 'x' });
}

async function signIn(page: Page, password: string): Promise<void> {
  await page.locator('#login [name=box]').fill(`http://127.0.0.1:${box.port('http')}`);
  await page.locator('#login [name=user]').fill(box.address);
  await page.locator('#login [name=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a page of another origin logs in, lists, is pushed a new mail and sends one', async () => {
  await using served = await servePage();
  await deliver('Before');
  const page = await browser.newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  await page.goto(served.url);
  expect(new URL(served.url).port).not.toBe(String(box.port('http')));

  await signIn(page, 'wrong');
  await page.getByText('wrong address or password', { exact: false }).waitFor();
  await signIn(page, box.password);
  await page.getByText('listening').waitFor();
  expect(await page.locator('#inbox li').allTextContents()).toEqual(['carl@else.test: Before']);

  await deliver('Pushed');
  await page.locator('#inbox li', { hasText: 'Pushed' }).waitFor();
  expect(await page.locator('#inbox li').allTextContents()).toEqual([
    'carl@else.test: Pushed',
    'carl@else.test: Before',
  ]);

  await page.locator('#write [name=to]').fill(ANNA);
  await page.locator('#write [name=subject]').fill('From a page');
  await page.locator('#write [name=text]').fill('Grüße, 10 €');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('sent', { exact: true }).waitFor();
  await using anna = await overImap.open(box, ANNA, box.password);
  expect(await anna.read('inbox', 'From a page')).toMatchObject({ from: box.address, text: 'Grüße, 10 €' });
  expect(wrong).toEqual([]);
});
