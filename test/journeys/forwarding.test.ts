import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { tool } from '../support/mcp.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';

let remote: ScriptedServer;
let dns: DnsServer;
let box: Box;
let base: string;
let token: string;
const passwords = new Map<string, string>();

beforeAll(async () => {
  remote = await scriptedServer({
    rcpt: (line) => (line.includes('nobody@') ? '550 5.1.1 nobody here has that name' : undefined),
  });
  dns = await dnsServer({ 'MX remote.example': ['10 mx.remote.example'], 'A mx.remote.example': ['127.0.0.1'] });
  const settings = { RESOLVERS: dns.address, OUTBOUND_PORT: String(remote.port), EXEMPT_NETWORKS: '127.0.0.0/8' };
  box = await startBox({ hostname: 'mail.home.example', settings });
  base = `http://127.0.0.1:${box.port('http')}`;
  // The operator's word stands for the DNS; the domain is the operator's organization's.
  await box.ask('add_domain', { domain: 'home.example' });
  const made = await box.ask('create_agent_token', { name: 'test', actions: ['read', 'manage'] });
  token = (made as { secret: string }).secret;
  for (const local of ['me', 'quiet', 'other']) {
    const made = (await box.ask('add_mailbox', { address: `${local}@home.example` })) as { password: string };
    passwords.set(local, made.password);
  }
});
afterAll(async () => {
  for (const one of [box, dns, remote]) await one[Symbol.asyncDispose]();
});
beforeEach(() => remote.mails.splice(0));

async function forward(source: string, destination: string, keepLocalCopy?: boolean) {
  const args = { sourceAddress: source, destinationAddress: destination, keepLocalCopy };
  return tool(base, 'set_email_forwarder', args, token);
}

async function deliver(
  to: string,
  subject: string,
  more: { from?: string; headers?: Record<string, string> } = {},
): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const envelope = { from: more.from ?? 'author@elsewhere.example', to };
  const mail = { from: 'Author <author@elsewhere.example>', to, subject, text: 'Hello', headers: more.headers ?? {} };
  return transport.sendMail({ ...mail, envelope }).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

/** The copy that goes on of a message; one of a test before may still be on its way. */
async function copyOf(subject: string) {
  for (let had = 0; ;) {
    const mails = await remote.received(had + 1);
    const found = mails.find((mail) => mail.raw.toString('latin1').includes(`Subject: ${subject}\r\n`));
    if (found !== undefined) return found;
    had = mails.length;
  }
}

async function subjects(local: string): Promise<(string | undefined)[]> {
  const auth = { user: `${local}@home.example`, pass: passwords.get(local) ?? '' };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
  await client.connect();
  const { exists } = await client.mailboxOpen('INBOX');
  const all: (string | undefined)[] = [];
  if (exists > 0) for await (const one of client.fetch('1:*', { envelope: true })) all.push(one.envelope?.subject);
  await client.logout();
  return all;
}

describe('the four rules', () => {
  test('a mailbox keeps its copy and a copy goes on, from its author, with a sender of ours', async () => {
    await forward('me@home.example', 'me@remote.example');
    expect(await deliver('me@home.example', 'both')).toBe('accepted');
    const [mail] = await remote.received(1);
    expect(await subjects('me')).toContain('both');
    const raw = mail?.raw.toString('latin1') ?? '';
    expect(raw).toContain('From: Author <author@elsewhere.example>');
    expect(raw).toMatch(/^DKIM-Signature: [^]*d=home\.example/m);
    expect(raw).toContain('X-Forwarded-For: me@home.example');
    expect(mail?.from).toMatch(/^<?SRS0=[a-z2-7]{10}=[a-z2-7]{2}=elsewhere\.example=author@home\.example/i);
  });

  test('an address without a mailbox only forwards, to all its destinations', async () => {
    await forward('sales@home.example', 'one@remote.example');
    await forward('sales@home.example', 'two@remote.example');
    expect(await deliver('sales+spring@home.example', 'on')).toBe('accepted');
    const mails = await remote.received(2);
    expect(
      mails
        .map((mail) => mail.to.join())
        .toSorted()
        .join(' '),
    ).toMatch(/one@remote\.example.*two@remote\.example/);
  });

  test('one that keeps no copy does so only when the forward fails for good', async () => {
    await forward('quiet@home.example', 'quiet@remote.example', false);
    await deliver('quiet@home.example', 'gone on');
    await remote.received(1);
    expect(await subjects('quiet')).toEqual([]);
    await tool(
      base,
      'remove_email_forwarder',
      { sourceAddress: 'quiet@home.example', destinationAddress: 'quiet@remote.example' },
      token,
    );
    await forward('quiet@home.example', 'nobody@remote.example', false);
    await deliver('quiet@home.example', 'came back');
    await expect.poll(() => subjects('quiet')).toEqual(['came back']);
  });

  test('forwards inside the box are followed to their end, and circles end', async () => {
    await forward('team@home.example', 'other@home.example');
    expect(await forward('other@home.example', 'team@home.example')).toMatchObject({
      status: 409,
      body: { error: 'forwarder_loop' },
    });
    await deliver('team@home.example', 'inside');
    expect(await subjects('other')).toEqual(['inside']);
  });
});

test('of 20 ways to write a forward that comes back none is taken', async () => {
  await forward('a@home.example', 'b@home.example');
  await forward('b@home.example', 'c@home.example');
  await forward('uni@home.example', 'bücher@home.example');
  const forms: [source: string, destination: string][] = [
    ['me@home.example', 'me@home.example'],
    ['me@home.example', 'ME@home.example'],
    ['me@home.example', 'me@HOME.Example'],
    ['me@home.example', 'me+tag@home.example'],
    ['me@home.example', 'Me+Tag+x@HOME.EXAMPLE'],
    ['me@home.example', '"me"@home.example'],
    ['me@home.example', 'me@home.example.'],
    ['me@home.example', ' me@home.example '],
    ['ME@HOME.EXAMPLE', 'me@home.example'],
    ['me+tag@home.example', 'me@home.example'],
    ['b@home.example', 'a@home.example'],
    ['b@home.example', 'A@Home.Example'],
    ['B@home.example', 'a+tag@home.example'],
    ['c@home.example', 'a@home.example'],
    ['c@home.example', 'b@home.example'],
    ['c@home.example', 'A+x@HOME.example'],
    ['c@home.example', '"a"@home.example'],
    ['bücher@home.example', 'uni@home.example'],
    ['b\u00fccher@home.example', 'UNI+x@home.example'],
    ['bu\u0308cher@home.example', 'uni@home.example'],
  ];
  const answers = await Promise.all(forms.map(([source, destination]) => forward(source, destination)));
  expect(forms.filter((_, i) => answers[i]?.status === 200)).toEqual([]);
  expect(answers.filter(({ body }) => (body as { error?: string }).error === 'forwarder_loop').length).toBeGreaterThan(
    14,
  );
  for (const [source, destination] of [
    ['a', 'b'],
    ['b', 'c'],
    ['uni', 'bücher'],
  ] as const) {
    const pair = { sourceAddress: `${source}@home.example`, destinationAddress: `${destination}@home.example` };
    expect((await tool(base, 'remove_email_forwarder', pair, token)).status).toBe(200);
  }
});

describe('where the organization asks destinations first', () => {
  const page = (secret: string): string => `${base}/forward/confirm?token=${secret}`;
  const headers = { origin: '', 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' };
  const post = (secret: string) =>
    fetch(`${base}/forward/confirm`, {
      method: 'POST',
      headers: { ...headers, origin: base },
      body: `token=${secret}`,
    });
  const queried = async (destination: string): Promise<string> => {
    const letter = (await remote.received(1)).find((mail) => mail.to.join().includes(destination));
    const text = letter?.raw.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=') ?? '';
    return /confirm\?token=([0-9a-f]{48})/.exec(text)?.[1] ?? expect.fail(text);
  };

  beforeAll(() => tool(base, 'set_forwarding_policy', { confirmExternal: true }, token));
  afterAll(() => tool(base, 'set_forwarding_policy', { confirmExternal: false }, token));

  test('nothing leaves until the link was opened and confirmed, once', async () => {
    const set = await forward('ask@home.example', 'reader@remote.example');
    expect(set.body).toMatchObject({ forwarder: { state: 'pending' } });
    const secret = await queried('reader');
    expect(await deliver('ask@home.example', 'too early')).toMatch(/450 4\.2\.1/);
    const shown = await (await fetch(page(secret))).text();
    expect(shown).toContain('reader@remote.example');
    expect(await deliver('ask@home.example', 'only looked at')).toMatch(/450/);
    expect((await post(secret)).status).toBe(200);
    expect((await post(secret)).status).toBe(410);
    expect((await fetch(page(secret))).status).toBe(410);
    remote.mails.splice(0);
    expect(await deliver('ask@home.example', 'on its way')).toBe('accepted');
    expect((await remote.received(1))[0]?.to.join()).toContain('reader@remote.example');
    const listed = await tool(base, 'list_email_forwarders', { sourceAddress: 'ask@home.example' }, token);
    expect(listed.body).toMatchObject({ forwarders: [{ state: 'active' }] });
    const audit = await tool(base, 'list_audit_events', { limit: 5 }, token);
    expect(JSON.stringify(audit.body)).toContain('confirm_forward');
    expect(JSON.stringify(audit.body)).not.toContain(secret);
  });

  test('a mailbox keeps what waits; a new link ends the one before; links that nobody made open nothing', async () => {
    await forward('other@home.example', 'slow@remote.example', false);
    const old = await queried('slow');
    remote.mails.splice(0);
    await forward('other@home.example', 'slow@remote.example', false);
    const fresh = await queried('slow');
    expect(await deliver('other@home.example', 'waits')).toBe('accepted');
    expect(await subjects('other')).toContain('waits');
    expect((await post(old)).status).toBe(404);
    expect((await post('0'.repeat(48))).status).toBe(404);
    expect((await fetch(page(fresh))).status).toBe(200);
    const pair = { sourceAddress: 'other@home.example', destinationAddress: 'slow@remote.example' };
    await tool(base, 'remove_email_forwarder', pair, token);
    expect((await post(fresh)).status).toBe(404);
  });

  test('addresses of the organization itself are not asked', async () => {
    const set = await forward('inside@home.example', 'me@home.example');
    expect(set.body).toMatchObject({ forwarder: { state: 'active' } });
    const pair = { sourceAddress: 'inside@home.example', destinationAddress: 'me@home.example' };
    await tool(base, 'remove_email_forwarder', pair, token);
  });

  test('a destination gets 5 letters a day at most', async () => {
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push((await forward('ask@home.example', 'many@remote.example')).status);
    expect(answers).toEqual([200, 200, 200, 200, 200, 429]);
  });
});

describe('what stays', () => {
  test.each([
    ['a reply of a program', { 'Auto-Submitted': 'auto-replied' }],
    ['a report', { 'Content-Type': 'multipart/report; boundary=x' }],
    ['junk', { Precedence: 'junk' }],
  ])('%s is in the mailbox, and goes nowhere', async (what, headers) => {
    expect(await deliver('me@home.example', what, { headers })).toBe('accepted');
    expect(await subjects('me')).toContain(what);
    await deliver('me@home.example', 'a letter after it');
    const mails = await remote.received(1);
    expect(mails.map((mail) => mail.raw.toString()).join()).not.toContain(`Subject: ${what}`);
  });

  test('is refused where there is no mailbox for it', async () => {
    const said = await deliver('sales@home.example', 'automatic', { headers: { 'Auto-Submitted': 'auto-replied' } });
    expect(said).toMatch(
      /550 5\.7\.1 Cannot forward this message for sales@home\.example: it was generated automatically/,
    );
  });

  test('what was forwarded from here and comes back is not forwarded again', async () => {
    await deliver('me@home.example', 'round');
    const { raw } = await copyOf('round');
    remote.mails.splice(0);
    const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
    await transport.sendMail({ envelope: { from: 'reflector@remote.example', to: 'me@home.example' }, raw });
    expect((await subjects('me')).filter((one) => one === 'round')).toHaveLength(2);
    await deliver('me@home.example', 'and on');
    await copyOf('and on');
    expect(remote.mails.filter((mail) => mail.raw.toString('latin1').includes('Subject: round'))).toEqual([]);
  });
});

test('a report to a rewritten sender finds who wrote; a forged one, and a letter, find nobody', async () => {
  await deliver('me@home.example', 'to be bounced', { from: 'writer@remote.example' });
  const mail = await copyOf('to be bounced');
  const sender = mail.from.replace(/[<>]/g, '').split(' ')[0] ?? '';
  remote.mails.splice(0);
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const report = (from: string, to: string) =>
    transport
      .sendMail({
        envelope: { from, to },
        raw: 'From: mailer-daemon@remote.example\r\nSubject: failed\r\n\r\nIt failed\r\n',
      })
      .then(
        () => 'accepted',
        (error: Error) => error.message,
      );
  expect(await report('', sender)).toBe('accepted');
  const [back] = await remote.received(1);
  expect(back?.to.join()).toContain('writer@remote.example');
  expect(await report('spammer@remote.example', sender)).toMatch(/550/);
  expect(await report('', sender.replace('writer', 'victim'))).toMatch(/550/);
});
