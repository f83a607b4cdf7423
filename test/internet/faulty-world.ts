import { execFileSync } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setDefaultCACertificates } from 'node:tls';
import { createTransport } from 'nodemailer';
import { expect } from 'vitest';
import { loadSettings } from '../../config/load.ts';
import { createResolver } from '../../mail/dns/resolver.ts';
import { SteadyClock } from '../../mail/jobs/steady-clock.ts';
import { openMetrics } from '../../src/core/metrics.ts';
import { createProviderTransport } from '../../src/dns-providers/transport.ts';
import { callServer } from '../../src/operator-socket/client.ts';
import { startAppliance } from '../../src/start/appliance.ts';
import { type LogLine, recordingLog } from '../support/acme-box.ts';
import { type Authority, testAuthority } from '../support/authority.ts';
import { type FakeDnsApi } from '../support/dns-apis/fake-dns-api.ts';
import { fakeCloudflare } from '../support/dns-apis/record-apis.ts';
import { Ledger, load, numbered } from '../support/load.ts';
import { AT, connectFromOutside } from '../support/network-namespace.ts';
import { startPebble } from '../support/pebble.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';
import { DOMAIN_LIST, FaultyDns, HOST, SERVERS, ZONE } from './faulty-dns.ts';
import { faultyAuthority, faultyProvider, stubScanner } from './faulty-servers.ts';

export const USER = `ann@${ZONE}`;

interface DoctorLine {
  name: string;
  status: string;
  why: string;
  fix: string;
}

/** The clock of the box, and that of the world. Times in ms. */
class FaultyClock {
  /** Time that passed without anything happening. */
  passed = 0;
  /** Error of the clock of the box. */
  error = 0;
  readonly steady = new SteadyClock(
    () => this.now() + this.error,
    () => performance.now() + this.passed,
  );

  /** The right time, ms UTC. */
  now(): number {
    return Date.now() + this.passed;
  }
}

/** A server of which everything is right, and everything around it that can go wrong. */
export type FaultyWorld = Awaited<ReturnType<typeof faultyWorld>>;

export async function faultyWorld() {
  await using stack = new AsyncDisposableStack();
  const disk = stack.adopt(await mkdtemp(join(tmpdir(), 'faulty-')), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const [dataDir, backups] = [join(disk, 'data'), join(disk, 'share')];
  execFileSync('mkdir', [dataDir, backups]);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40g', 'data', dataDir]);
  stack.defer(() => void execFileSync('umount', ['-l', dataDir]));
  const clock = new FaultyClock();
  const api = fakeCloudflare();
  for (const [type, ip] of [
    ['A', AT.box],
    ['AAAA', AT.box6],
  ] as const)
    api.zone.add(HOST, type, 300, ip);
  const dns = stack.use(new FaultyDns(() => api.zone.records));
  await dns.start();
  const pebble = stack.use(await startPebble({ dns: `${AT.resolver}:53`, httpPort: 80, tlsPort: 443 }));
  const known = await testAuthority('Known');
  setDefaultCACertificates([pebble.root, pebble.serverRoot, known.pem]);
  const authority = stack.use(await faultyAuthority(pebble, () => clock.now()));
  const provider = stack.use(await faultyProvider(api, await known.issue(['api.cloudflare.com'])));
  const scanner = stack.use(await stubScanner());
  const far = stack.use(await scriptedServer({}, AT.dane, 25));
  const smarthost = stack.use(await scriptedServer({}, SERVERS.smarthost, 587));
  smarthost.tls = (await known.issue(['smart.far.test'])).context;
  smarthost.offers = ['AUTH PLAIN'];
  const files = { cert: join(disk, 'cert.pem'), key: join(disk, 'key.pem') };
  const certify = certifier(known, files);
  await certify([HOST]);
  const log: LogLine[] = [];
  const fatal: Error[] = [];
  const settings = loadSettings(
    settingsOf({ dataDir, backups: join(backups, 'box'), directory: authority.directory, ...files }),
    [],
  );
  if ('problem' in settings) throw new Error(settings.problem);
  const resolver = createResolver({ servers: [`${AT.resolver}:53`], cache: false });
  stack.use(
    await startAppliance({
      settings,
      log: recordingLog(log),
      metrics: openMetrics(),
      clock: () => clock.steady.now(),
      steadyClock: clock.steady,
      fatal: (error) => fatal.push(error),
      providerTransport: createProviderTransport({ resolver, timeoutMs: 3_000 }),
      acmeTest: { roots: [pebble.serverRoot], pause: () => 300, everyMs: 300, pollMs: 20, timeoutMs: 1_000 },
    }),
  );
  const ask = async (operation: string, input: object = {}): Promise<Record<string, unknown>> => {
    const answer = await callServer(dataDir, operation, input);
    if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
    return answer.result as Record<string, unknown>;
  };
  const password = await setUp(ask, dns);
  await connectFromOutside();
  const ledger = new Ledger();
  const all = stack.move();
  return {
    ask,
    dns,
    api,
    clock,
    authority,
    provider,
    scanner,
    far,
    smarthost,
    log,
    fatal,
    ledger,
    /** Directory that holds the target of backups, as a share of another machine. */
    backups,
    password,
    certify,
    /** Sets the size of the disk of the data directory, such as `1g`. */
    resize: (size: string) => void execFileSync('mount', ['-o', `remount,size=${size}`, dataDir]),
    sendsOut: (to: string) => sendOut(password, to),
    publishes: () => publish(ask, dns),
    /** Everything that the doctor finds wrong. */
    findings: async (): Promise<DoctorLine[]> => {
      const { checks } = (await ask('run_doctor', { peer: AT.dane })) as { checks: DoctorLine[] };
      return checks.filter(({ status }) => status !== 'ok');
    },
    /** Another server delivers one message; true: it was accepted. */
    async receives(): Promise<boolean> {
      const number = ledger.acknowledged.size + ledger.refusals.length;
      const queue = [numbered(`mail-${number}`, 800, number)];
      await load({ port: 25, queue, ledger, clients: 1, to: USER });
      return queue.length === 0;
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

type AskOperation = (operation: string, input?: object) => Promise<Record<string, unknown>>;

function settingsOf(of: { dataDir: string; backups: string; directory: string; cert: string; key: string }) {
  return {
    MAILSTEAD_HOSTNAME: HOST,
    MAILSTEAD_DATA_DIR: of.dataDir,
    MAILSTEAD_LISTEN: `127.0.0.1,${AT.box},${AT.box6}`,
    MAILSTEAD_OUTBOUND_ADDRESSES: `${AT.box},${AT.box6}`,
    MAILSTEAD_RESOLVERS: `${AT.resolver}:53`,
    MAILSTEAD_DNS_PORT: 'off',
    MAILSTEAD_ACME_EMAIL: `owner@${ZONE}`,
    MAILSTEAD_ACME_DIRECTORY: of.directory,
    MAILSTEAD_TLS_CERT: of.cert,
    MAILSTEAD_TLS_KEY: of.key,
    MAILSTEAD_BACKUP_TARGET: of.backups,
    MAILSTEAD_BACKUP_PASSPHRASE: 'six words that nobody can guess',
    MAILSTEAD_RSPAMD_URL: `http://${SERVERS.scanner}:11333`,
    MAILSTEAD_URIBL: DOMAIN_LIST,
    MAILSTEAD_EXEMPT_NETWORKS: '127.0.0.0/8,44.0.0.0/24',
    MAILSTEAD_MAILBOX_NEW_RECIPIENTS: '0',
    MAILSTEAD_SENDING_RAMP: 'off',
  };
}

/** Writes the certificate files of the host. */
function certifier(known: Authority, { cert, key }: { cert: string; key: string }) {
  return async (names: readonly string[], notAfter = '2050-01-01'): Promise<void> => {
    const issued = await known.issue(names, { notAfter });
    // Renamed, so that the box never reads half of a file.
    for (const [path, text] of [
      [key, issued.key],
      [cert, issued.cert],
    ] as const) {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    }
  };
}

/** Sets up the domain with its records and a mailbox, until the doctor finds nothing. Returns the password. */
async function setUp(ask: AskOperation, dns: FaultyDns): Promise<string> {
  await ask('add_domain', { domain: ZONE });
  const { password } = await ask('add_mailbox', { address: USER });
  await ask('set_mta_sts', { domain: ZONE, mode: 'testing' });
  await ask('connect_dns_provider', { domain: ZONE, provider: 'cloudflare', credentials: { token: 'good' } });
  await publish(ask, dns);
  return String(password);
}

/** Publishes the records at the provider. Returns the sentence of a refusal, or ''. */
async function publish(ask: AskOperation, dns: FaultyDns): Promise<string> {
  try {
    await ask('publish_dns_records', { domain: ZONE });
    return '';
  } catch (error) {
    return (error as Error).message;
  } finally {
    dns.update();
  }
}

async function sendOut(pass: string, to: string): Promise<void> {
  const auth = { user: USER, pass };
  const transport = createTransport({
    host: AT.box,
    port: 465,
    secure: true,
    auth,
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({ from: USER, to, subject: to, text: to });
  transport.close();
}

/** Lines of a zone at the provider. */
export const linesOf = ({ zone }: FakeDnsApi): string[] => zone.lines();

/** Messages that a server took; a dialog without a valid recipient ends with an empty one. */
export const taken = ({ mails }: ScriptedServer): number => mails.filter(({ to }) => to.length > 0).length;

/** Waits until so many messages arrived at a server in all. */
export const arrived = (server: ScriptedServer, count: number): Promise<void> =>
  expect.poll(() => taken(server)).toBe(count);
