import { createHash } from 'node:crypto';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authenticate } from '../../mail/auth/authenticate.ts';
import { createResolver } from '../../mail/dns/resolver.ts';
import { type AcmeWorld, acmeWorld } from '../support/acme-box.ts';
import { testAuthority } from '../support/authority.ts';
import { publicPart, SIGNING_KEYS, signMessage } from '../support/dkim-maker.ts';
import { type NameServerProcess, startKnot } from '../support/name-server-process.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';
import { OWNER_PASSWORD } from '../support/visitor.ts';
import { Wire } from '../support/wire.ts';
import { openBrowser, watchedPage } from './chromium.ts';

const ZONE = 'shop.test';
const HOST = `mail.${ZONE}`;
const BASE = `https://${HOST}`;
const FOREIGN = `${ZONE}. 3600 IN NS ns.${ZONE}.
ns.${ZONE}. 3600 IN A 127.0.0.1
${HOST}. 3600 IN A 127.0.0.1`;

/** An authority (pebble), the name server of the domain (Knot DNS), a resolver, and a receiver with DANE. */
let world: AcmeWorld;
let knot: NameServerProcess;
let receiver: ScriptedServer;
let browser: Browser;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  knot = stack.use(await startKnot(ZONE, FOREIGN));
  receiver = stack.use(await scriptedServer());
  // Signed by an authority that nobody trusts: only the TLSA record proves it.
  const issued = await (await testAuthority('Unknown')).issue(['mx.dane.test']);
  receiver.tls = issued.context;
  const key = issued.leaf.publicKey.export({ format: 'der', type: 'spki' });
  const settings = {
    MAILSTEAD_HOSTNAME: HOST,
    MAILSTEAD_OUTBOUND_PORT: String(receiver.port),
    MAILSTEAD_DNS_PORT: 'off',
    MAILSTEAD_DNSBL: 'off',
    MAILSTEAD_SENDING_RAMP: 'off',
  };
  world = stack.use(await acmeWorld({ settings }));
  world.internet.secure = true;
  world.internet.publish(`test. 60 IN NS a.gtld.example.
com. 60 IN NS a.gtld.example.
ns.hoster.test. 60 IN A 127.0.0.1
dane.test. 60 IN MX 10 mx.dane.test.
mx.dane.test. 60 IN A ${receiver.host}
_${receiver.port}._tcp.mx.dane.test. 60 IN TLSA 3 1 1 ${createHash('sha256').update(key).digest('hex')}
dane.test. 60 IN TXT "v=spf1 ip4:127.0.0.1 -all"
_dmarc.dane.test. 60 IN TXT "v=DMARC1; p=reject"
s1._domainkey.dane.test. 60 IN TXT "v=DKIM1; k=ed25519; p=${publicPart(SIGNING_KEYS.ed25519)}"`);
  world.internet.delegate(ZONE, ['ns.hoster.test'], knot.port);
  // The page stands at the public name and port.
  const https = world.appliance.listeners.https ?? 0;
  browser = await openBrowser([`--host-resolver-rules=MAP ${HOST}:443 127.0.0.1:${https}`]);
  stack.defer(() => browser.close());
}, 180_000);
afterAll(() => stack.disposeAsync());

/** Checks that are not green, since everything here is on one machine and on other ports, and that were not asked for. */
const NOT_ON_LOOPBACK = [
  'backup',
  'settings: private networks',
  'settings: name server',
  'settings: listen',
  'settings: outbound port',
  'incoming port 25',
  'reverse name',
  'blocklists',
  `${ZONE}: mtaSts`,
];

/** A person at the page, whose clicks and typed fields are counted. */
function person(page: Page) {
  const counted = { clicks: 0, fields: 0 };
  return {
    counted,
    async click(name: string | RegExp): Promise<void> {
      counted.clicks++;
      await page.getByRole('button', { name, exact: true }).click();
    },
    async type(label: string | RegExp, text: string): Promise<void> {
      counted.fields++;
      await page.getByLabel(label, { exact: true }).fill(text);
    },
    async credential(name: string, text: string): Promise<void> {
      counted.fields++;
      await page.locator(`#rfc2136-${name}`).fill(text);
    },
  };
}

test('from an empty data directory to mail in and out that passes SPF, DKIM, DMARC and DANE, by the set-up page', async () => {
  // The browser does not know the authority.
  const { page, context, wrong } = await watchedPage(browser, BASE, { ignoreHTTPSErrors: true });
  const ann = person(page);
  await page.goto(`${BASE}/auth/setup?token=${world.appliance.seeded.claim ?? ''}`);
  await ann.type('Your mail address', 'ann@private.test');
  await ann.type('New password', OWNER_PASSWORD);
  await ann.click('Claim organization');
  await ann.type('Domain', ZONE);
  await ann.click('Add domain');
  await page.getByText('Next: DNS records.').waitFor();
  await page.getByText('Publish the records at a DNS provider').click();
  await page.locator('summary').getByText('RFC 2136').last().click();
  await ann.credential('server', '127.0.0.1');
  await ann.credential('port', String(knot.port));
  await ann.credential('keyName', knot.keyName);
  await ann.credential('secret', knot.secret);
  await ann.click(/^Connect .*2136/);
  await page.getByText('Records of others stay.').waitFor();
  await ann.click('Publish');
  await page.getByText('Domain verified.').waitFor();
  await ann.type(`Address, before @${ZONE}`, 'ann');
  await ann.click('Create mailbox');
  await ann.type('Device', 'phone of Ann');
  await ann.click('Show QR code');
  const link = new URL((await page.getByLabel('Link', { exact: true }).textContent()) ?? '');
  const password = await onThePhone(link);
  // Claim, domain, provider, publication, mailbox, phone.
  expect(ann.counted).toEqual({ clicks: 6, fields: 9 });
  expect(wrong).toEqual([]);
  await context.close();

  await expect
    .poll(async () => (await world.certificates()).map(({ status }) => status), { timeout: 60_000 })
    .toEqual(['valid', 'valid']);
  await sendsOut(password);
  await takesIn(password);
  const { checks } = (await world.ask('run_doctor')) as { checks: { name: string; status: string }[] };
  expect(checks.filter(({ status }) => status !== 'ok').map(({ name }) => name)).toEqual(NOT_ON_LOOPBACK);
});

/** Opens the link of the QR code, and returns the password that the device gets. */
async function onThePhone(link: URL): Promise<string> {
  const { page, context } = await watchedPage(browser, BASE, { ignoreHTTPSErrors: true });
  await page.goto(link.href);
  await page.getByRole('button', { name: 'Another device: show the settings' }).click();
  const password = (await page.getByLabel('Password', { exact: true }).textContent()) ?? '';
  await context.close();
  return password;
}

/** Verified connections, as those of a mail program that knows the authority. */
const secured = () => ({ ca: world.pebble.root, servername: HOST });
const USER = `ann@${ZONE}`;

async function sendsOut(pass: string): Promise<void> {
  const port = world.appliance.listeners.submissions ?? 0;
  const auth = { user: USER, pass };
  const transport = createTransport({ host: '127.0.0.1', port, secure: true, auth, tls: secured() });
  await transport.sendMail({ from: USER, to: 'you@dane.test', subject: 'First', text: 'Hello' });
  transport.close();
  const [mail] = await receiver.received(1);
  const delivered = () => world.log.find(({ text }) => text === 'relay: delivered')?.fields['tls'];
  await expect.poll(delivered).toMatch(/dane$/);
  if (mail === undefined) expect.fail('no mail');
  const found = await authenticate(
    { chunks: () => chunksOf(mail.raw.subarray(0, -3)), ip: '127.0.0.1', helo: HOST, sender: mail.from },
    { resolver: createResolver({ servers: [world.internet.address] }) },
  );
  expect(found).toMatchObject({ spf: { result: 'pass' }, dmarc: { result: 'pass', domain: ZONE } });
  expect(found.dkim.map(({ result, domain }) => `${result} ${domain}`)).toContain(`pass ${ZONE}`);
}

async function* chunksOf(octets: Buffer): AsyncIterable<Buffer> {
  yield octets;
}

async function takesIn(pass: string): Promise<void> {
  const message = signMessage({
    message: `From: you@dane.test\r\nTo: ${USER}\r\nSubject: Back\r\nMessage-ID: <1@dane.test>\r\n\r\nHello\r\n`,
    key: SIGNING_KEYS.ed25519,
    tags: { d: 'dane.test', s: 's1', a: 'ed25519-sha256', h: 'from:to:subject' },
  });
  using wire = await Wire.open(world.appliance.listeners.smtp ?? 0);
  await wire.reply();
  for (const line of ['EHLO mx.dane.test', 'MAIL FROM:<you@dane.test>', `RCPT TO:<${USER}>`, 'DATA'])
    await wire.command(line);
  wire.send(Buffer.from(`${message}.\r\n`));
  expect(await wire.reply()).toMatch(/^250/);
  const port = world.appliance.listeners.imaps ?? 0;
  const client = new ImapFlow({
    host: '127.0.0.1',
    port,
    secure: true,
    auth: { user: USER, pass },
    tls: secured(),
    logger: false,
  });
  await client.connect();
  await client.mailboxOpen('INBOX');
  const source = String(((await client.fetchOne('*', { source: true })) || undefined)?.source);
  await client.logout();
  for (const method of ['spf', 'dkim', 'dmarc']) expect(source).toContain(`${method}=pass`);
}
