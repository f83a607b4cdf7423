import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authenticateMail } from '../../mail/auth/authenticate.ts';
import { createResolver } from '../../mail/dns/resolver.ts';
import { openBrowser, watchedPage } from '../browser/chromium.ts';
import { SIGNING_KEYS, signMessage } from '../support/dkim-maker.ts';
import { AT, connectFromOutside, reverseName } from '../support/network-namespace.ts';
import type { ReceivedMail } from '../support/scripted-smtp.ts';
import { OWNER_PASSWORD } from '../support/visitor.ts';
import { HOST, type ToyInternet, toyInternet, ZONE } from './toy-world.ts';

const BASE = `https://${HOST}`;
const USER = `ann@${ZONE}`;
let world: ToyInternet;
let browser: Browser;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  world = stack.use(await toyInternet());
  browser = await openBrowser([`--host-resolver-rules=MAP ${HOST} ${AT.box}`]);
  stack.defer(() => browser.close());
});
afterAll(() => stack.disposeAsync());

/** A person whose doings are counted: forms that ask for a name, and everything else. */
function person(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
  const did: string[] = [];
  return {
    did,
    /** Types names into a form and sends it. */
    async names(fields: Record<string, string>, send: string): Promise<void> {
      for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
      await button(send);
    },
    /** Opens the form of the DNS provider, enters its credentials and sends it. */
    async connects(credentials: Record<string, string>): Promise<void> {
      did.push('DNS provider');
      await page.getByText('Publish the records at a DNS provider').click();
      await page.locator('summary').getByText('RFC 2136').last().click();
      for (const [name, text] of Object.entries(credentials)) await page.locator(`#rfc2136-${name}`).fill(text);
      await button(/^Connect and publish: .*2136/);
    },
  };
}

interface Check {
  name: string;
  status: string;
  why: string;
}

const checked = async (): Promise<Check[]> =>
  ((await world.ask('run_doctor', { peer: 'mx.dane.test' })) as { checks: Check[] }).checks;
const notGreen = async (): Promise<Check[]> => (await checked()).filter(({ status }) => status !== 'ok');

test('from an empty data directory to all checks green by the set-up page, with two actions beyond names, then mail in and out', async () => {
  const from = Date.now();
  // The browser does not know the authority.
  const { page, context, wrong } = await watchedPage(browser, BASE, { ignoreHTTPSErrors: true });
  context.setDefaultTimeout(60_000);
  const ann = person(page);
  await page.goto(`${BASE}/auth/setup?token=${world.appliance.seeded.claim ?? ''}`);
  await ann.names({ 'Your mail address': 'ann@private.test', 'New password': OWNER_PASSWORD }, 'Claim organization');
  await ann.names({ Domain: ZONE }, 'Add domain');
  await page.getByText('Next: DNS records.').waitFor();
  const { address: server, keyName, secret } = world.provider;
  await ann.connects({ server, keyName, secret });
  await page.getByText('Domain verified.').waitFor();
  await ann.names({ [`Address, before @${ZONE}`]: 'ann' }, 'Create mailbox');
  await ann.names({ Device: 'phone of Ann' }, 'Show QR code');
  const link = new URL((await page.getByLabel('Link', { exact: true }).textContent()) ?? '');
  const password = await onThePhone(link);
  expect(wrong).toEqual([]);
  await context.close();

  // Port 25 is open here, as at a provider that opened it; the reverse names are the other thing to ask it for.
  const before = (await notGreen()).map(({ name }) => name);
  expect(before).toEqual(expect.arrayContaining(['reverse name', 'incoming port 25']));
  await connectFromOutside();
  ann.did.push('reverse name');
  for (const ip of [AT.box, AT.box6]) await world.registry.add('arpa', reverseName(ip), `60 PTR ${HOST}.`);
  // Certificates and the MTA-STS policy follow by themselves.
  await expect.poll(notGreen, { interval: 5_000 }).toEqual([]);
  expect(ann.did).toEqual(['DNS provider', 'reverse name']);
  const minutes = ((Date.now() - from) / 60_000).toFixed(1);
  console.log(`${ann.did.length} actions beyond typing names, ${minutes} minutes until all checks are green`);
  // The zone is signed: the keys of the certificate were published as TLSA records.
  const dane = (await checked()).find(({ name }) => name === 'DANE')?.why;
  expect(dane).toBe(`The TLSA records at _25._tcp.${HOST} match the certificate in use.`);

  await hasSettingsDocument();

  await sendsOut(password, 'you@dane.test', /, dane$/);
  await sendsOut(password, 'you@sts.test', /, mta-sts/);
  for (const [receiver, ip] of [
    [world.dane, AT.dane],
    [world.sts, AT.sts],
  ] as const) {
    const [mail] = await receiver.received(1);
    await passes(mail ?? expect.fail(`no mail at ${ip}`), receiver.peers[0] ?? '');
  }
  await takesIn(password);
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

/** Fetches the settings document of the domain as a mail program does, which trusts it by the digest in the signed zone. */
async function hasSettingsDocument(): Promise<void> {
  const host = `ua-auto-config.${ZONE}`;
  const resolver = createResolver({ servers: [AT.resolver] });
  expect(await resolver.a(host)).toMatchObject({ kind: 'found', records: [AT.box] });
  const fetched = async (): Promise<string> => {
    const tls = { host: AT.box, servername: host, ca: world.pebble.root, headers: { host } };
    const request = get({ ...tls, path: '/.well-known/user-agent-configuration.json' });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return createHash('sha256')
      .update(await buffer(response))
      .digest('base64');
  };
  const texts = await resolver.txt(`_ua-auto-config.${ZONE}`);
  const published = texts.kind === 'found' ? texts.records : [];
  // The certificate of the name comes by itself.
  await expect.poll(fetched).toBe(/^v=UAAC1; a=sha256; d=(.*)$/.exec(published[0] ?? '')?.[1]);
}

/** Verified connections, as those of a mail program that knows the authority. */
const secured = () => ({ ca: world.pebble.root, servername: HOST });

/** Sends one message, and checks by which policy its TLS was proved. */
async function sendsOut(pass: string, to: string, proof: RegExp): Promise<void> {
  const transport = createTransport({
    host: AT.box,
    port: 465,
    secure: true,
    auth: { user: USER, pass },
    tls: secured(),
  });
  await transport.sendMail({ from: USER, to, subject: 'First', text: 'Hello' });
  transport.close();
  const host = `mx.${to.split('@')[1] ?? ''}`;
  const delivered = () =>
    world.log.find(({ text, fields }) => text === 'relay: delivered' && fields['host'] === host)?.fields['tls'];
  await expect.poll(delivered).toMatch(proof);
}

/** Verifies a message as its receiver does. */
async function passes({ raw, from }: ReceivedMail, ip: string): Promise<void> {
  const found = await authenticateMail(
    { chunks: () => chunksOf(raw.subarray(0, -3)), ip, helo: HOST, sender: from },
    { resolver: createResolver({ servers: [AT.resolver] }) },
  );
  expect(found).toMatchObject({ spf: { result: 'pass' }, dmarc: { result: 'pass', domain: ZONE } });
  expect(found.dkim.map(({ result, domain }) => `${result} ${domain}`)).toContain(`pass ${ZONE}`);
}

async function* chunksOf(octets: Buffer): AsyncIterable<Buffer> {
  yield octets;
}

/** Another server delivers one message over TLS that it verifies, and Ann reads it. */
async function takesIn(pass: string): Promise<void> {
  const raw = signMessage({
    message: `From: you@dane.test\r\nTo: ${USER}\r\nSubject: Back\r\nMessage-ID: <1@dane.test>\r\n\r\nHello\r\n`,
    key: SIGNING_KEYS.ed25519,
    tags: { d: 'dane.test', s: 's1', a: 'ed25519-sha256', h: 'from:to:subject' },
  });
  const sender = createTransport({
    host: AT.box,
    port: 25,
    name: 'mx.dane.test',
    localAddress: AT.dane,
    requireTLS: true,
    tls: secured(),
  });
  await sender.sendMail({ envelope: { from: 'you@dane.test', to: USER }, raw });
  sender.close();
  const client = new ImapFlow({
    host: AT.box,
    port: 993,
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
