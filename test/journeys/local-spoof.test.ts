import { ImapFlow } from 'imapflow';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { JmapClient, listOf } from '../support/jmap-client.ts';
import { tool } from '../support/mcp.ts';

// Nobody from outside writes in the name of a domain that is hosted here: being local proves nothing.

const DOMAIN = 'home.example';
let dns: DnsServer;
let box: Box;
let token: string;
const passwords = new Map<string, string>();

beforeAll(async () => {
  dns = await dnsServer({
    // Its own mail comes from elsewhere; we are on loopback here.
    [`TXT ${DOMAIN}`]: ['v=spf1 ip4:203.0.113.1 -all'],
    [`TXT _dmarc.${DOMAIN}`]: ['v=DMARC1; p=reject'],
    'TXT evil.example': ['v=spf1 ip4:127.0.0.0/8 -all'],
    'TXT _dmarc.evil.example': ['v=DMARC1; p=reject'],
    // A name that is easily taken for a part of ours.
    [`TXT ${DOMAIN}.evil.example`]: ['v=spf1 ip4:127.0.0.0/8 -all'],
  });
  const settings = { RESOLVERS: dns.address, EXEMPT_NETWORKS: '127.0.0.0/8' };
  box = await startBox({ hostname: `mail.${DOMAIN}`, settings });
  await box.ask('add_domain', { domain: DOMAIN });
  token = ((await box.ask('create_agent_token', { name: 'test', actions: ['read', 'manage'] })) as { secret: string })
    .secret;
  for (const local of ['boss', 'anna', 'team']) {
    const made = (await box.ask('add_mailbox', { address: `${local}@${DOMAIN}` })) as { password: string };
    passwords.set(local, made.password);
  }
  await tool(
    at(),
    'set_email_forwarder',
    { sourceAddress: `all@${DOMAIN}`, destinationAddress: `anna@${DOMAIN}` },
    token,
  );
});
afterAll(async () => {
  for (const one of [box, dns]) await one[Symbol.asyncDispose]();
});

const at = (): string => `http://127.0.0.1:${box.port('http')}`;
const results = `Authentication-Results: mail.${DOMAIN}; spf=pass; dkim=pass header.d=${DOMAIN}; dmarc=pass header.from=${DOMAIN}`;

interface Spoof {
  /** Envelope sender. */
  sender: string;
  from: string;
  /** Field lines before From. */
  more?: string;
  helo?: string;
}

const SENDERS = [`boss@${DOMAIN}`, 'eve@evil.example', '', `boss@${DOMAIN}.evil.example`, `anna@${DOMAIN}`];
const SPOOFS: readonly Spoof[] = SENDERS.flatMap((sender) => [
  { sender, from: `boss@${DOMAIN}` },
  { sender, from: `"The boss" <boss@${DOMAIN.toUpperCase()}>` },
  { sender, from: `boss@${DOMAIN}`, helo: `mail.${DOMAIN}` },
  { sender, from: `boss@${DOMAIN}`, more: `${results}\r\n` },
  { sender, from: `boss@${DOMAIN}`, more: `Sender: eve@evil.example\r\nReply-To: eve@evil.example\r\n` },
  {
    sender,
    from: `boss@${DOMAIN}`,
    more: `Received: from x (x [127.0.0.1]) by mail.${DOMAIN} with ESMTPSA id 1; ${new Date().toUTCString()}\r\n`,
  },
  { sender, from: `boss+urgent@${DOMAIN}` },
  { sender, from: `nobody@sub.${DOMAIN}` },
  { sender, from: `(x) boss@(y)${DOMAIN} (eve@evil.example)` },
  { sender, from: `eve@evil.example, boss@${DOMAIN}` },
  { sender, from: `eve@evil.example\r\nFrom: boss@${DOMAIN}` },
  {
    sender,
    from: `=?utf-8?q?boss?= <boss@${DOMAIN}>`,
    more: `X-Mailstead-Verdict: inbox (0 of 5)\r\n${results}\r\n`,
  },
]);

async function send(spoof: Spoof, subject: string, to: string): Promise<string> {
  const { sender, from, more = '', helo = 'mx.evil.example' } = spoof;
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('smtp'),
    secure: false,
    ignoreTLS: true,
    name: helo,
  });
  const raw = `${more}From: ${from}\r\nTo: ${to}\r\nSubject: ${subject}\r\nDate: ${new Date().toUTCString()}\r\nMessage-ID: <${subject}@x.example>\r\n\r\nPay this\r\n`;
  const mail: SendMailOptions = { envelope: { from: sender, to: [to] }, raw };
  return transport.sendMail(mail).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

interface Found {
  subject: string;
  mailbox: string;
  source: string;
}

/** Everything that a mailbox has, with where it is. */
async function all(local: string): Promise<Found[]> {
  const auth = { user: `${local}@${DOMAIN}`, pass: passwords.get(local) ?? '' };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
  await client.connect();
  const found: Found[] = [];
  try {
    for (const { path } of await client.list()) {
      if ((await client.mailboxOpen(path, { readOnly: true })).exists === 0) continue;
      for await (const one of client.fetch('1:*', { envelope: true, source: true }))
        found.push({ subject: one.envelope?.subject ?? '', mailbox: path, source: one.source?.toString() ?? '' });
    }
  } finally {
    await client.logout();
  }
  return found;
}

const passes = ({ source }: Found): boolean =>
  /^Authentication-Results: mail\.home\.example;(?:[^\r]|\r\n\s)*\bdmarc=pass[^;]*header\.from=[\w.]*home\.example/im.test(
    source,
  );

test.each(['follow', 'junk', 'mark'])(
  'in the name of a domain that is hosted here, by its policy "%s": none passes for it',
  async (dmarc) => {
    await tool(at(), 'update_mail_policy', { dmarc }, token);
    const outcomes: string[] = [];
    for (const [i, spoof] of SPOOFS.entries())
      outcomes.push(await send(spoof, `${dmarc}-${i}`, `${i % 4 === 3 ? 'all' : 'anna'}@${DOMAIN}`));
    const taken = (await all('anna')).filter(({ subject }) => subject.startsWith(`${dmarc}-`));
    const inInbox = taken.filter(({ mailbox }) => mailbox === 'INBOX');
    const refused = outcomes.filter((one) => /5[05]0[ -]5\./.test(one)).length;
    console.log(
      `${dmarc}: of ${SPOOFS.length} ${refused} refused, ${inInbox.length} in the inbox, with dmarc=pass ${taken.filter(passes).length}`,
    );
    expect(taken.filter(passes)).toEqual([]);
    if (dmarc !== 'mark') expect(inInbox).toEqual([]);
    if (dmarc === 'follow') expect(refused).toBe(SPOOFS.length);
    else expect(taken.length).toBeGreaterThan(SPOOFS.length / 2);
  },
);

test('somebody of that domain who is logged in writes to another, which nothing is held against', async () => {
  const auth = { user: `boss@${DOMAIN}`, pass: passwords.get('boss') ?? '' };
  const tls = { rejectUnauthorized: false };
  const transport = createTransport({ host: '127.0.0.1', port: box.port('submissions'), secure: true, auth, tls });
  await transport.sendMail({ from: `boss@${DOMAIN}`, to: `anna@${DOMAIN}`, subject: 'really', text: 'Hello' });
  expect((await all('anna')).find(({ subject }) => subject === 'really')).toMatchObject({ mailbox: 'INBOX' });
});

/** Two forms of results in our name, and those of another server, which stay. */
const FORGED = [
  results,
  `Authentication-Results: (x) "mail.${DOMAIN}" 1;\r\n dmarc=pass header.from=bank.example`,
  'X-Mailstead-Verdict: inbox (0 of 5)',
  'Authentication-Results: mx.other.example; dmarc=pass header.from=bank.example',
].join('\r\n');

function expectOnlyForeignResults(found: Found | undefined): void {
  expect(found?.source).toContain('Pay this');
  expect(found?.source.match(/^(?:Authentication-Results|X-Mailstead-Verdict):.*/gim)).toEqual([
    'Authentication-Results: mx.other.example; dmarc=pass header.from=bank.example',
  ]);
}

const forgedMail = (subject: string): string =>
  `${FORGED}\r\nFrom: boss@${DOMAIN}\r\nTo: anna@${DOMAIN}\r\nSubject: ${subject}\r\nDate: ${new Date().toUTCString()}\r\nMessage-ID: <${subject}@x.example>\r\n\r\nPay this\r\n`;

test('results in our name are removed from mail between local users', async () => {
  const auth = { user: `boss@${DOMAIN}`, pass: passwords.get('boss') ?? '' };
  const tls = { rejectUnauthorized: false };
  const transport = createTransport({ host: '127.0.0.1', port: box.port('submissions'), secure: true, auth, tls });
  await transport.sendMail({
    envelope: { from: auth.user, to: [`anna@${DOMAIN}`] },
    raw: forgedMail('forged-submission'),
  });
  expectOnlyForeignResults((await all('anna')).find(({ subject }) => subject === 'forged-submission'));
});

test('results in our name are removed from what JMAP sends to a local user', async () => {
  const jmap = await JmapClient.discover(at(), { user: `boss@${DOMAIN}`, password: passwords.get('boss') ?? '' });
  const { blobId } = await jmap.upload(Uint8Array.from(Buffer.from(forgedMail('forged-jmap'))), 'message/rfc822');
  const boxes = listOf(await jmap.call('Mailbox/get', { ids: null }));
  const drafts = String(boxes.find((one) => one['role'] === 'drafts')?.['id']);
  const identity = listOf(await jmap.call('Identity/get', { ids: null }))[0]?.['id'];
  const imported = await jmap.call('Email/import', { emails: { a: { blobId, mailboxIds: { [drafts]: true } } } });
  const emailId = (imported['created'] as { a: { id: string } }).a.id;
  const sent = await jmap.call('EmailSubmission/set', { create: { s: { identityId: identity, emailId } } });
  expect(sent['created'], JSON.stringify(sent)).toHaveProperty('s');
  expectOnlyForeignResults((await all('anna')).find(({ subject }) => subject === 'forged-jmap'));
});

test('what proves to be somebody else’s comes in as theirs', async () => {
  expect(await send({ sender: 'eve@evil.example', from: 'eve@evil.example' }, 'eve', `team@${DOMAIN}`)).toBe(
    'accepted',
  );
  const [found] = await all('team');
  expect(found?.source).toMatch(/dmarc=pass[^;]*header\.from=evil\.example/);
});
