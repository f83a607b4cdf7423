import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSettings } from '../../config/load.ts';
import { type Log, quiet } from '../../mail/log.ts';
import { startAppliance } from '../../src/start/appliance.ts';
import { callServer } from '../../src/operator-socket/client.ts';
import { openMetrics } from '../../src/core/metrics.ts';
import { testAuthority } from '../support/authority.ts';
import { type DnsAnswer, dnsServer } from '../support/dns-server.ts';
import { Wire } from '../support/wire.ts';
import { receivingPostfix, type ReceivingPostfix } from './receiving-postfix.ts';

const ME = 'me@box.test';
const KNOWN = getCACertificates();

/** A line of the relay's log. */
interface Attempt {
  outcome: string;
  status: string;
  text: string;
  tls: string;
}

interface World {
  postfix: ReceivingPostfix;
  /** Sends one message to this domain and answers the first attempt. */
  send(domain: string, mail?: string): Promise<Attempt>;
}

let world: World;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  const authority = await testAuthority('Known');
  setDefaultCACertificates([...KNOWN, authority.pem]);
  stack.defer(() => setDefaultCACertificates(KNOWN));
  const issued = await authority.issue(['mx.remote.test']);
  const postfix = stack.use(await receivingPostfix(issued));
  const key = issued.leaf.publicKey.export({ format: 'der', type: 'spki' });
  const digest = createHash('sha256').update(key).digest('hex');
  const policies = await policyServer(await authority.issue(DOMAINS.map((name) => `mta-sts.${name}`)));
  const dns = stack.use(await dnsServer(zone(postfix.port, digest)));
  dns.secure = (name) => name.endsWith('dane.test') || name.endsWith('daneless.test');
  world = { postfix, send: await box(dns.address, postfix.port, policies) };
});
afterAll(() => stack.disposeAsync());

/** With a policy that names mx.remote.test, and with one that names another name of the same server. */
const DOMAINS = ['remote.test', 'misnamed.test', 'trying.test'];

function zone(port: number, digest: string): Record<string, DnsAnswer> {
  const at: Record<string, DnsAnswer> = { 'A mx.remote.test': ['127.0.0.1'], 'A mx.misnamed.test': ['127.0.0.1'] };
  for (const name of DOMAINS) {
    at[`MX ${name}`] = [name === 'remote.test' ? '10 mx.remote.test' : '10 mx.misnamed.test'];
    at[`TXT _mta-sts.${name}`] = ['v=STSv1; id=1'];
    at[`A mta-sts.${name}`] = ['127.0.0.1'];
  }
  for (const [name, record] of [
    ['dane.test', digest],
    ['daneless.test', 'ab'.repeat(32)],
  ] as const) {
    Object.assign(at, { [`MX ${name}`]: [`10 mx.${name}`], [`A mx.${name}`]: ['127.0.0.1'] });
    at[`TLSA _${port}._tcp.mx.${name}`] = [`3 1 1 ${record}`];
  }
  at['MX open.test'] = ['10 mx.misnamed.test'];
  return at;
}

/** Answers the port that it listens on. */
async function policyServer({ cert, key }: { cert: string; key: string }): Promise<number> {
  const server = createServer({ cert, key }, (request, response) => {
    const domain = /^mta-sts\.([^:]+)/.exec(request.headers.host ?? '')?.[1] ?? '';
    const mode = domain === 'trying.test' ? 'testing' : 'enforce';
    const mx = domain === 'remote.test' ? 'mx.remote.test' : 'mx.misnamed.test';
    response.setHeader('content-type', 'text/plain');
    response.end(`version: STSv1\r\nmode: ${mode}\r\nmx: ${mx}\r\nmax_age: 604800\r\n`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The appliance itself, in this process; answers how to send. */
async function box(resolver: string, outboundPort: number, policyPort: number): Promise<World['send']> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tls-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const endpoints = ['SMTP', 'SUBMISSION', 'SUBMISSIONS', 'IMAP', 'IMAPS', 'HTTP', 'HTTPS'];
  const settings = loadSettings(
    {
      ...Object.fromEntries(endpoints.map((door) => [`MAILSTEAD_${door}_PORT`, '0'])),
      MAILSTEAD_HOSTNAME: 'mail.box.test',
      MAILSTEAD_LISTEN: '127.0.0.1',
      MAILSTEAD_DATA_DIR: dataDir,
      MAILSTEAD_ALLOW_PRIVATE_NETWORKS: 'true',
      MAILSTEAD_RESOLVERS: resolver,
      MAILSTEAD_OUTBOUND_PORT: String(outboundPort),
    },
    [],
  );
  if ('problem' in settings) throw new Error(settings.problem);
  // By trace. The log may have the attempt before the client has read the reply with the trace.
  const attempts = new Map<string, PromiseWithResolvers<Attempt>>();
  const attemptOf = (trace: string): PromiseWithResolvers<Attempt> => {
    const known = attempts.get(trace) ?? Promise.withResolvers<Attempt>();
    attempts.set(trace, known);
    return known;
  };
  const log: Log = {
    ...quiet,
    info(fields, text) {
      const { trace } = fields as { trace?: string };
      if (text.startsWith('relay: ') && trace !== undefined) attemptOf(trace).resolve(fields as Attempt);
    },
  };
  const appliance = stack.use(
    await startAppliance({
      settings,
      log,
      metrics: openMetrics(),
      clock: Date.now,
      fatal: () => undefined,
      policyPort,
    }),
  );
  await ask(dataDir, 'add_domain', { domain: 'box.test' });
  const { password } = (await ask(dataDir, 'add_mailbox', { address: ME })) as { password: string };
  return async (domain, mail = `MAIL FROM:<${ME}>`) => {
    using wire = await Wire.open(appliance.listeners.submissions ?? 0, { tls: true });
    await wire.reply();
    await wire.command('EHLO client.example');
    await wire.command(`AUTH PLAIN ${Buffer.from(`\0${ME}\0${password}`).toString('base64')}`);
    await wire.command(mail);
    await wire.command(`RCPT TO:<you@${domain}>`);
    await wire.command('DATA');
    wire.send(`From: ${ME}\r\n\r\nHello\r\n.\r\n`);
    const said = await wire.reply();
    const trace = /queued as (\S+)$/.exec(said)?.[1];
    if (trace === undefined) throw new Error(said);
    return attemptOf(trace).promise;
  };
}

async function ask(dataDir: string, operation: string, input: object): Promise<unknown> {
  const answer = await callServer(dataDir, operation, input);
  if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
  return answer.result;
}

test('a certificate that fits the policy: it goes, and the record says by what right', async () => {
  const attempt = await world.send('remote.test');
  expect(attempt).toMatchObject({
    outcome: 'delivered',
    tls: expect.stringMatching(/^TLSv1\.3 \w+, mta-sts$/) as unknown,
  });
});

test('a certificate for another name: nothing reaches Postfix, and the reason says who must do what', async () => {
  const attempt = await world.send('misnamed.test');
  expect(attempt).toMatchObject({ outcome: 'deferred', status: '4.7.5' });
  expect(attempt.text).toBe(
    'the MTA-STS policy of misnamed.test (mode enforce) forbids mail to mx.misnamed.test: its certificate is not for the name mx.misnamed.test; its operator has to install a certificate for its name',
  );
});

test('the same in testing mode, and where nothing is demanded: it goes', async () => {
  const trying = await world.send('trying.test');
  expect(trying).toMatchObject({ outcome: 'delivered', tls: expect.stringContaining('mta-sts testing') as unknown });
  const open = await world.send('open.test');
  expect(open).toMatchObject({ outcome: 'delivered', tls: expect.stringContaining('opportunistic') as unknown });
});

test('the key that DANE names, and one that it does not name', async () => {
  expect(await world.send('dane.test')).toMatchObject({
    outcome: 'delivered',
    tls: expect.stringMatching(/, dane$/) as unknown,
  });
  const attempt = await world.send('daneless.test');
  expect(attempt).toMatchObject({ outcome: 'deferred', status: '4.7.5' });
  expect(attempt.text).toContain('TLSA');
});

test('REQUIRETLS comes back from a Postfix that does not know it', async () => {
  const attempt = await world.send('remote.test', `MAIL FROM:<${ME}> REQUIRETLS`);
  expect(attempt).toMatchObject({ outcome: 'failed', status: '5.7.30' });
});

test('in all, Postfix got what went, and nothing of what waits', async () => {
  const reached = async (): Promise<string[]> =>
    [...(await world.postfix.log()).matchAll(/ to=<you@(\S+)>/g)].map((found) => found[1] ?? '').sort();
  await expect.poll(reached).toHaveLength(4);
  expect(await reached()).toEqual(['dane.test', 'open.test', 'remote.test', 'trying.test']);
});
