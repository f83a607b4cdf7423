import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));
const me = 'me@home.example';
let remote: ScriptedServer;
let dns: DnsServer;
let box: Box;
let password: string;

beforeAll(async () => {
  remote = await scriptedServer({
    rcpt: (line) => (line.includes('nobody@') ? '550 5.1.1 nobody here has that name' : undefined),
  });
  dns = await dnsServer({ 'MX remote.example': ['10 mx.remote.example'], 'A mx.remote.example': ['127.0.0.1'] });
  const settings = { RESOLVERS: dns.address, OUTBOUND_PORT: String(remote.port) };
  box = await startBox({ hostname: 'mail.home.example', settings });
  operator('domain', 'add', 'home.example');
  password = (operator('mailbox', 'add', me) as { password: string }).password;
});
afterAll(async () => {
  for (const one of [box, dns, remote]) await one[Symbol.asyncDispose]();
});

function operator(...words: string[]): unknown {
  const said = spawnSync(command, [...words, '--json', '--data-dir', box.dataDir], { encoding: 'utf8' });
  if (said.status !== 0) throw new Error(said.stderr);
  return JSON.parse(said.stdout);
}

async function send(to: string[], subject: string): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    auth: { user: me, pass: password },
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({
    from: me,
    to,
    bcc: 'hidden@remote.example',
    subject,
    text: '.a line that begins with a dot\n..and two',
  });
  transport.close();
}

/** The newest message of the inbox, once there are so many. */
async function inbox(count: number): Promise<string> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth: { user: me, pass: password },
    logger: false,
    tls: { rejectUnauthorized: false },
  });
  await client.connect();
  const opened = await client.mailboxOpen('INBOX');
  if (opened.exists < count) await new Promise((resolve) => client.once('exists', resolve));
  const found = await client.fetchOne('*', { source: true });
  await client.logout();
  if (found === false || found === undefined) throw new Error('the inbox is empty');
  return found.source?.toString() ?? '';
}

describe('mail that leaves', () => {
  test('is signed twice, names no Bcc, and what is refused comes back as one bounce that explains', async () => {
    await send(['friend@remote.example', 'nobody@remote.example'], 'to two people');
    // One of them to nobody, which is what pipelining makes of a refused recipient. RFC 2920 3.1.
    const taken = (await remote.received(3)).filter((one) => one.to.length > 0);
    const [mail] = taken;
    const text = mail?.raw.toString() ?? '';
    expect(taken.map((one) => one.to.join()).sort()).toEqual(['friend@remote.example', 'hidden@remote.example']);
    for (const one of taken) expect(one.from).toMatch(/^me\+r[0-9a-z]+-[a-z2-7]{12}@home\.example$/);
    expect(new Set(taken.map((one) => one.from)).size).toBe(2);
    expect(text.match(/^DKIM-Signature:/gm)).toHaveLength(2);
    expect(text).toMatch(/d=home\.example/);
    expect(text).not.toMatch(/^Bcc:/im);
    expect(text).toContain('\r\n..a line that begins with a dot\r\n...and two');

    const bounce = await inbox(1);
    expect(bounce).toContain('Return-Path: <>');
    expect(bounce).toMatch(/Content-Type: multipart\/report;\s+report-type=delivery-status/);
    expect(bounce).toContain('Final-Recipient: rfc822; nobody@remote.example');
    expect(bounce).toContain('Status: 5.1.1');
    expect(bounce).toContain('nobody here has that name');
    expect(bounce.match(/^Final-Recipient:/gm)).toHaveLength(1);
    expect(operator('queue', 'list')).toEqual({ queue: [] });
  });

  test('survives kill -9 between the attempt and its end, and is delivered once', async () => {
    const reached = new Promise<void>((resolve) => {
      remote.script.data = () => {
        resolve();
        return { do: 'silence' };
      };
    });
    await send(['late@remote.example'], 'after the crash');
    await reached;
    await box.kill();
    delete remote.script.data;
    await box.restart();
    const before = remote.mails.length;
    expect(operator('queue', 'retry', 'all')).toMatchObject({ changed: 2 });
    await remote.received(before + 2);
    const mine = remote.mails.filter((mail) => mail.raw.includes('Subject: after the crash'));
    expect(mine.map((mail) => mail.to.join()).sort()).toEqual(['hidden@remote.example', 'late@remote.example']);
  });

  test('its story can be read by its id', async () => {
    const { message: trace } = await box.logged(
      (line) => line.msg === 'message accepted' && line.service === 'submission',
    );
    const told = operator('trace', String(trace)) as { events: { event: string }[]; timeline: { event: string }[] };
    const { events, timeline } = told;
    expect(events.map((line) => line.event).sort()).toEqual([
      'bounced',
      'delivered',
      'delivered',
      'failed',
      'listed',
      'submitted',
    ]);
    expect(timeline.find((one) => one.event === 'bounced')).toMatchObject({
      recipient: 'nobody@remote.example',
      host: 'mx.remote.example',
      code: 550,
      enhancedCode: '5.1.1',
      untrusted: { text: '550 5.1.1 nobody here has that name' },
      explanation: expect.stringContaining('No such address: correct it.'),
    });
    const words = spawnSync(command, ['trace', String(trace), '--data-dir', box.dataDir], { encoding: 'utf8' }).stdout;
    expect(words).toContain('Remote server: 550 5.1.1 nobody here has that name');
  });
});

describe('a test of delivery', () => {
  test('is mailed, followed to its end and reported in steps, taken or refused', async () => {
    const { domains } = (await box.ask('list_email_domains')) as { domains: { id: string }[] };
    const run = (to: string): Promise<unknown> => box.ask('run_delivery_test', { domainId: domains[0]?.id, to });
    const delivered = expect.objectContaining({ event: 'delivered', host: 'mx.remote.example' });
    const taken = await run('tested@remote.example');
    expect(taken).toMatchObject({ verdict: 'delivered', steps: expect.arrayContaining([delivered]) });
    expect(remote.mails.at(-1)?.to).toEqual(['tested@remote.example']);
    const bounced = expect.objectContaining({ event: 'bounced', code: 550 });
    const refused = await run('also-nobody@remote.example');
    expect(refused).toMatchObject({ verdict: 'refused', steps: expect.arrayContaining([bounced]) });
  });
});
