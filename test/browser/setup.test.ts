import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';
import { OWNER_PASSWORD } from '../support/visitor.ts';
import { openBrowser, watchedPage } from './chromium.ts';

const HOST = 'mail.shop.test';
let box: Box;
let base: string;
let dns: DnsServer;
let sink: ScriptedServer;
let browser: Browser;

beforeAll(async () => {
  sink = await scriptedServer();
  dns = await dnsServer({
    'MX remote.test': ['10 mx.remote.test'],
    'A mx.remote.test': [sink.host],
    [`A ${HOST}`]: ['127.0.0.1'],
  });
  const settings = {
    RESOLVERS: dns.address,
    OUTBOUND_PORT: String(sink.port),
    EXEMPT_NETWORKS: '127.0.0.0/8',
    ALLOW_PRIVATE_NETWORKS: 'true',
  };
  box = await startBox({ hostname: HOST, settings });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
  await Promise.all([dns[Symbol.asyncDispose](), sink[Symbol.asyncDispose]()]);
});

/** A person at the page: each click and each typed field is counted. */
function person(page: Page) {
  const counted = { clicks: 0, fields: 0 };
  return {
    counted,
    async click(name: string): Promise<void> {
      counted.clicks++;
      await page.getByRole('button', { name, exact: true }).click();
    },
    async type(label: string | RegExp, text: string): Promise<void> {
      counted.fields++;
      await page.getByLabel(label).fill(text);
    },
    step: (name: string) => page.getByRole('heading', { level: 2, name: new RegExp(`^\\d\\. ${name} `) }).textContent(),
  };
}

test('one link leads from an empty server to a phone with a mailbox, over a restart', async () => {
  const link = box.printed.map((line) => /^ *claim +(\S+)/.exec(line)?.[1]).find(Boolean) ?? '';
  const watched = await watchedPage(browser, base, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page, context, wrong } = watched;
  const ann = person(page);

  await page.goto(`${base}${new URL(link).pathname}${new URL(link).search}`);
  await ann.type('Your mail address', 'ann@private.test');
  await ann.type('New password', OWNER_PASSWORD);
  await ann.click('Claim organization');
  await page.waitForURL(/\/setup\?done=claimed$/);
  await page.getByText('1 of 5 steps done. Next: Domain.').waitFor();

  await ann.type('Domain', 'shop.test');
  await ann.click('Add domain');
  await page.getByText('2 of 5 steps done. Next: DNS records.').waitFor();

  // Copies a value as the person would paste it.
  await page.getByRole('button', { name: 'Copy the value' }).nth(1).click();
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(HOST);
  await ann.click('Check DNS');
  await page.getByText('Missing or wrong ones are marked below').waitFor();
  const rows = await page.locator('table').last().locator('tbody tr').all();
  for (const row of rows) {
    const [type = '', name = '', value = ''] = await row
      .locator('td')
      .evaluateAll((cells) =>
        cells.map(
          (cell) =>
            (
              cell as unknown as { querySelector(of: string): { textContent: string } | null; textContent: string }
            ).querySelector('code')?.textContent ?? (cell as unknown as { textContent: string }).textContent.trim(),
        ),
      );
    dns.zone[`${type} ${name}`] = [value];
  }
  await ann.click('Check DNS');
  await page.getByText('3 of 5 steps done. Next: First mailbox.').waitFor();

  await box.restart();
  await page.reload();
  await page.getByText('3 of 5 steps done. Next: First mailbox.').waitFor();
  expect(await ann.step('DNS records')).toMatch(/Done$/);
  await ann.type('Address, before @shop.test', 'ann');
  await ann.click('Create mailbox');
  await page.getByText('4 of 5 steps done. Next: Phone or mail program.').waitFor();

  await ann.type('Device', 'phone of Ann');
  await ann.click('Show QR code');
  await page.getByText('Scan this code with the camera of the phone').waitFor();
  const phoneLink = new URL((await page.getByLabel('Link', { exact: true }).textContent()) ?? '');
  const password = await onThePhone(phoneLink);

  await page.goto(page.url().replace(/\?.*/, ''));
  await page.getByText('All steps are done.').waitFor();
  // Two looks at the DNS: one before the records were published.
  expect(ann.counted).toEqual({ clicks: 6, fields: 5 });
  expect(wrong).toEqual([]);
  await context.close();
  await mailFlows(password);
});

/** Opens the link of the QR code, and returns the password that the device gets. */
async function onThePhone(link: URL): Promise<string> {
  const { page, context } = await watchedPage(browser, base);
  await page.goto(`${base}${link.pathname}${link.search}`);
  await page.getByRole('button', { name: 'Another device: show the settings' }).click();
  const password = (await page.getByLabel('Password', { exact: true }).textContent()) ?? '';
  await context.close();
  return password;
}

/** One message out with the password of the phone, signed by the new domain. */
async function mailFlows(pass: string): Promise<void> {
  const tls = { rejectUnauthorized: false };
  const auth = { user: 'ann@shop.test', pass };
  const transport = createTransport({ host: '127.0.0.1', port: box.port('submissions'), secure: true, auth, tls });
  await transport.sendMail({ from: 'ann@shop.test', to: 'friend@remote.test', subject: 'First', text: 'Hello' });
  transport.close();
  await expect.poll(() => sink.mails.length).toBe(1);
  expect(sink.mails[0]?.raw.toString('latin1')).toContain('d=shop.test');
}
