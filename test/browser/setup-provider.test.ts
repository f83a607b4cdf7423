import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { Internet } from '../support/internet.ts';
import { type NameServerProcess, startKnot } from '../support/name-server-process.ts';
import { OWNER_PASSWORD } from '../support/visitor.ts';
import { queryServer } from '../../mail/dns/exchange.ts';
import { openBrowser } from './chromium.ts';

const HOST = 'mail.host.test';
const ZONE = 'shop.test';
const FOREIGN = `${ZONE}. 3600 IN NS ns.${ZONE}.
${ZONE}. 300 IN TXT "site-proof=abc"
${ZONE}. 300 IN TXT "v=spf1 include:news.test ~all"
_dmarc.${ZONE}. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:agg@reader.test"
ns.${ZONE}. 3600 IN A 127.0.0.1`;

let internet: Internet;
let knot: NameServerProcess;
let box: Box;
let base: string;
let browser: Browser;
let page: Page;
const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

beforeAll(async () => {
  internet = await Internet.start();
  knot = await startKnot(ZONE, FOREIGN);
  internet.publish(`${HOST}. 60 IN A 127.0.0.1\nns.hoster.test. 60 IN A 127.0.0.1`);
  internet.delegate(ZONE, ['ns.hoster.test'], knot.port);
  const settings = {
    RESOLVERS: internet.address,
    EXEMPT_NETWORKS: '127.0.0.0/8',
    ALLOW_PRIVATE_NETWORKS: 'true',
    SENDING_RAMP: 'off',
  };
  box = await startBox({ hostname: HOST, settings });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
  page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
});
afterAll(async () => {
  await browser.close();
  await box[Symbol.asyncDispose]();
  await Promise.all([knot[Symbol.asyncDispose](), internet[Symbol.asyncDispose]()]);
});

test('without scripts, the records of a domain are published at its provider by three buttons, over a restart', async () => {
  const link = box.printed.map((line) => /^ *claim +(\S+)/.exec(line)?.[1]).find(Boolean) ?? '';
  await page.goto(`${base}${new URL(link).pathname}${new URL(link).search}`);
  await page.getByLabel('Your mail address').fill('ann@private.test');
  await page.getByLabel('New password').fill(OWNER_PASSWORD);
  await press('Claim organization');
  await page.getByLabel('Domain', { exact: true }).fill(ZONE);
  await press('Add domain');
  await page.getByText('Next: DNS records.').waitFor();

  await page.getByText('Publish the records at a DNS provider').click();
  await page.getByText('RFC 2136', { exact: false }).nth(1).click();
  const fill = (name: string, text: string) => page.locator(`#rfc2136-${name}`).fill(text);
  await fill('server', '127.0.0.1');
  await fill('port', String(knot.port));
  await fill('keyName', knot.keyName);
  await fill('secret', Buffer.alloc(32, 7).toString('base64'));
  const connect = page.getByRole('button', { name: /^Connect .*2136/ });
  await connect.click();
  await page.getByText('refused the TSIG key').first().waitFor();
  await fill('server', '127.0.0.1');
  await fill('port', String(knot.port));
  await fill('keyName', knot.keyName);
  await fill('secret', knot.secret);
  await connect.click();

  await page.getByText('records change. Records of others stay.').waitFor();
  expect(await page.getByRole('table', { name: 'Changes' }).textContent()).toContain(`10 ${HOST}`);
  await box.restart();
  await page.goto(page.url());
  await page.getByText(`zone ${ZONE}`).waitFor();
  await press('Check DNS');
  await page.getByText('Missing or wrong ones are marked below').waitFor();
  expect(await page.getByRole('table', { name: 'DNS records' }).first().textContent()).toContain('Missing');
  const setup = page.url();
  await page.getByRole('link', { name: ZONE }).first().click();
  const spf = await page.getByRole('row', { name: /^Sending \(SPF\)/ }).textContent();
  // The finding, why it matters, and what to do.
  for (const text of [
    'news.test has no SPF record',
    'treat mail from a server that SPF does not name',
    'add the terms of this one',
  ])
    expect(spf).toContain(text);
  await page.goto(setup);
  await press('Preview changes');
  await press('Publish');
  await page.getByText('Domain verified. It can send and receive mail.').waitFor();
  await page.getByText('3 of 5 steps done. Next: First mailbox.').waitFor();
});

test('"Get reports too" adds this server to the DMARC record of others, and nothing else', async () => {
  const dmarc = async (): Promise<string[]> => {
    const found = await queryServer(
      { ip: '127.0.0.1', port: knot.port },
      { name: `_dmarc.${ZONE}`, type: 'TXT', recurse: false },
      1000,
    );
    return (found?.answers ?? []).map((one) => String((one as { data?: unknown }).data));
  };
  const before = await dmarc();
  await page.getByRole('link', { name: ZONE }).first().click();
  await press('Preview changes');
  await page.getByText('Nothing to change.').waitFor();
  await press('Get reports too');
  await page.getByText('DNS records published.').waitFor();
  expect(before).toEqual(['v=DMARC1; p=reject; rua=mailto:agg@reader.test']);
  expect(await dmarc()).toEqual([`v=DMARC1; p=reject; rua=mailto:agg@reader.test,mailto:mailstead-reports@${ZONE}`]);
  await press('Preview changes');
  await page.getByText('Nothing to change.').waitFor();
  expect(await page.getByRole('button', { name: 'Get reports too' }).count()).toBe(0);
});
