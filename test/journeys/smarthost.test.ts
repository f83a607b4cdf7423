import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { testCertificate } from '../support/certificate.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { SILENCE, type Action, type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));
const me = 'me@home.example';
const secret = 'smart-Horse-battery-9917';
const dir = mkdtempSync(join(tmpdir(), 'smarthost-'));
const before = process.env['NODE_EXTRA_CA_CERTS'];
let known = secret;
let good: ScriptedServer;
let strict: ScriptedServer;
let tarpit: ScriptedServer;
let relay: ScriptedServer;
let dns: DnsServer;
let box: Box;
let password: string;

beforeAll(async () => {
  good = await scriptedServer();
  const refused = '554 5.7.1 Client host blocked using zen.spamhaus.org';
  strict = await scriptedServer({ rcpt: refused }, '127.0.0.2', good.port);
  tarpit = await scriptedServer({ connect: SILENCE }, '127.0.0.3', good.port);
  relay = await scriptedServer({ other: (line): Action | undefined => loggedIn(line) }, '127.0.0.4');
  const certificate = await testCertificate('relay.home.example');
  relay.tls = createSecureContext(certificate);
  relay.offers.push('AUTH PLAIN');
  dns = await dnsServer({
    'A good.example': ['127.0.0.1'],
    'A strict.example': ['127.0.0.2'],
    'A slow.example': ['127.0.0.3'],
    'A relay.home.example': ['127.0.0.4'],
  });
  writeFileSync(join(dir, 'ca.pem'), certificate.cert);
  writeFileSync(join(dir, 'password'), `${secret}\n`);
  process.env['NODE_EXTRA_CA_CERTS'] = join(dir, 'ca.pem');
  const settings = {
    RESOLVERS: dns.address,
    OUTBOUND_PORT: String(good.port),
    SMARTHOST: `smtp://anna@relay.home.example:${relay.port}`,
    SMARTHOST_PASSWORD_FILE: join(dir, 'password'),
    SMARTHOST_USE: 'failover',
    MAILBOX_NEW_RECIPIENTS: '0',
  };
  box = await startBox({ hostname: 'mail.home.example', settings });
  operator('domain', 'add', 'home.example');
  password = (operator('mailbox', 'add', me) as { password: string }).password;
});
afterAll(async () => {
  for (const one of [box, dns, relay, tarpit, strict, good]) await one[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true });
  if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
  else process.env['NODE_EXTRA_CA_CERTS'] = before;
});

function loggedIn(line: string): Action | undefined {
  if (!line.startsWith('AUTH PLAIN ')) return undefined;
  const right = Buffer.from(`\0anna\0${known}`).toString('base64');
  return line === `AUTH PLAIN ${right}` ? '235 2.7.0 Welcome' : '535 5.7.8 Wrong';
}

function operator(...words: string[]): unknown {
  const said = spawnSync(command, [...words, '--json', '--data-dir', box.dataDir], { encoding: 'utf8' });
  if (said.status !== 0) throw new Error(said.stderr);
  return JSON.parse(said.stdout);
}

/** One message to each, over a few connections. */
async function send(...to: string[]): Promise<void> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    pool: true,
    maxConnections: 4,
    auth: { user: me, pass: password },
    tls: { rejectUnauthorized: false },
  });
  await Promise.all(to.map((one) => transport.sendMail({ from: me, to: one, subject: one, text: 'hello' })));
  transport.close();
}

interface Queue {
  queue: { trace: string; to: string; lastText: string; explanation: string }[];
}

describe('a smarthost that stands by', () => {
  test('gets what a receiver refuses this server for, and the story says so; nobody gets a bounce', async () => {
    await send('you@strict.example', 'you@good.example');
    const [mail] = await relay.received(1);
    expect(mail?.to).toEqual(['you@strict.example']);
    // It compares the envelope sender with the login.
    expect(mail?.from).toBe(me);
    const sent = mail?.raw.toString() ?? '';
    const trace = /Received: .*?id (\S+)/s.exec(sent)?.[1] ?? '';
    await box.logged((line) => line['trace'] === trace && line.msg === 'relay: delivered');
    const story = operator('trace', trace) as { events: { event: string; detail: object }[]; waiting: unknown[] };
    expect(story.events.map(({ event }) => event)).toEqual(['submitted', 'deferred', 'rerouted', 'delivered']);
    expect(story.events[2]?.detail).toMatchObject({ route: 'the smarthost of this server' });
    expect(story.waiting).toEqual([]);
    await good.received(1);
  });

  test('that refuses the login: mail waits, one line of the log and the status say why, and it goes on', async () => {
    known = 'another';
    relay.closeIdle('421 4.4.2 Idle');
    await send('one@strict.example', 'two@strict.example');
    await box.logged((line) => line.msg.startsWith('smarthost rejected the login'));
    const status = operator('status') as { refusedLogins: { host: string; why: string }[] };
    expect(status.refusedLogins).toMatchObject([{ host: 'relay.home.example', why: expect.stringContaining('535') }]);
    const { queue } = operator('queue', 'list') as Queue;
    expect(queue.map((row) => row.to).sort()).toEqual(['one@strict.example', 'two@strict.example']);
    const refusals = box.log.filter((line) => line.msg.startsWith('smarthost rejected the login'));
    expect(refusals).toHaveLength(1);
    expect(box.printed.join('\n')).not.toContain(secret);
    expect(operator('queue', 'cancel', 'domain:strict.example')).toEqual({ changed: 2, more: false });
    known = secret;
  });

  test('is not used for what was set to go directly; and why it waits is said in words', async () => {
    strict.script.rcpt = '451 4.7.1 Greylisting in action';
    await send('grey@strict.example');
    await box.logged((line) => line.msg === 'relay: deferred' && String(line['text']).includes('Greylisting'));
    // Stored after it was logged.
    const explanation = (): string | undefined => (operator('queue', 'list') as Queue).queue[0]?.explanation;
    await expect.poll(explanation).toContain('defers mail from unknown servers (greylisting)');
    const had = strict.mails.length;
    delete strict.script.rcpt;
    expect(operator('queue', 'route', 'direct', 'domain:strict.example')).toMatchObject({ changed: 1 });
    expect((await strict.received(had + 1)).at(-1)?.to).toEqual(['grey@strict.example']);
  });
});

describe('a route of an organization', () => {
  test('is set without its password being shown, carries its mail, and is gone when it is removed', async () => {
    const route = ['host=relay.home.example', `port:=${relay.port}`, 'username=anna', `password=${secret}`];
    const set = operator('call', 'set_outbound_route', 'receiverDomain=good.example', ...route);
    expect(JSON.stringify(set)).not.toContain(secret);
    const listed = operator('call', 'list_outbound_routes') as { routes: { routeId: string }[]; otherwise: string };
    expect(listed.routes).toMatchObject([{ receiverDomain: 'good.example', hasPassword: true, problem: null }]);
    const had = relay.mails.length;
    await send('via@good.example');
    expect((await relay.received(had + 1)).at(-1)?.to).toEqual(['via@good.example']);
    operator('call', 'remove_outbound_route', `routeId=${listed.routes[0]?.routeId}`);
    const direct = good.mails.length;
    await send('again@good.example');
    expect((await good.received(direct + 1)).at(-1)?.to).toEqual(['again@good.example']);
  });
});

test('mail for a tarpit delays nobody else, also across a kill', async () => {
  // Fewer than would have a new mailbox paused.
  await send(...Array.from({ length: 50 }, (_, n) => `u${n}@slow.example`));
  await box.kill();
  await box.restart();
  const had = good.mails.length;
  await send(...Array.from({ length: 40 }, (_, n) => `v${n}@good.example`));
  await good.received(had + 40);
  expect(tarpit.mostOpen).toBeLessThanOrEqual(2);
  expect(operator('queue', 'hold', 'domain:slow.example')).toEqual({ changed: 50, more: false });
});
