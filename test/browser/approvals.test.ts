import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { approvalLink } from '../../src/approvals/link.ts';
import { ApprovalWorld } from '../support/approval-world.ts';
import { openBrowser, signedInAs, watchedPage } from './chromium.ts';
import { PAYLOADS } from './payloads.ts';

vi.mock('../../mail/agents/gate/gate.ts', () => import('../support/held-mail.ts'));

let browser: Browser;
let world: ApprovalWorld;
let base: string;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
beforeEach(async () => {
  world = await ApprovalWorld.open();
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`;
});
afterEach(() => world[Symbol.asyncDispose]());

const secretOf = (cookie: string): string => cookie.split('=')[1] ?? '';

describe.each([
  ['with script', true],
  ['without script', false],
])('an owner %s', (_name, javaScriptEnabled) => {
  test('finds what waits by the menu, reads it and approves it', async () => {
    const id = await world.hold();
    const watched = await watchedPage(browser, base, { javaScriptEnabled });
    const { page, wrong } = watched;
    await signedInAs(watched, base, secretOf(world.acme.cookie));
    await page.goto(`${base}${world.acme.path}`);
    await page.getByRole('link', { name: /Approvals/ }).click();
    await page.getByRole('link', { name: 'Offer' }).click();
    await page.getByText('was never written to').waitFor();
    await page.getByText('The offer').waitFor();
    await page.getByRole('button', { name: 'Approve and send' }).click();
    await page.getByText('Message approved.').waitFor();
    expect(await world.item(id)).toMatchObject({ state: 'approved' });
    expect(wrong).toEqual([]);
    await watched.context.close();
  });

  test('opens the link of a letter, which decides nothing by itself, and refuses there', async () => {
    const id = await world.hold();
    const link = new URL((await approvalLink(world.made.world, { id, user: world.acme.user })) ?? '');
    const { page, context, wrong } = await watchedPage(browser, base, { javaScriptEnabled });
    await page.goto(`${base}${link.pathname}${link.search}`);
    // The token does not stay where others could read it.
    expect(page.url().includes('token=')).toBe(!javaScriptEnabled);
    expect(await world.item(id)).toMatchObject({ state: 'pending' });
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByText('Rejected').waitFor();
    expect(await world.item(id)).toMatchObject({ state: 'denied' });
    expect(wrong).toEqual([]);
    await context.close();
  });
});

test('nothing that a message says runs, loads or breaks the page, narrow or wide', async () => {
  const ids: number[] = [];
  for (const payload of PAYLOADS) {
    const line = payload.replaceAll(/[\r\n]/g, ' ');
    const encoded = `=?utf-8?B?${Buffer.from(line).toString('base64')}?=`;
    const head = `From: anna@anna.test\r\nTo: x@elsewhere.test\r\nSubject: ${encoded}\r\nMIME-Version: 1.0\r\n`;
    const type = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n';
    ids.push(await world.hold(`${head}${type}\r\n${Buffer.from(payload).toString('base64')}\r\n`));
  }
  for (const width of [360, 1280]) {
    const watched = await watchedPage(browser, base, { viewport: { width, height: 900 } });
    await signedInAs(watched, base, secretOf(world.acme.cookie));
    const paths = [`${world.acme.path}/outbox`, ...ids.map((id) => `${world.acme.path}/outbox/out_${id}`)];
    for (const path of paths) {
      await watched.page.goto(`${base}${path}`);
      const wider = await watched.page.evaluate('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
      expect([path, width, wider]).toEqual([path, width, 0]);
    }
    expect(watched.wrong).toEqual([]);
    await watched.context.close();
  }
});
