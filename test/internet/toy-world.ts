import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setDefaultCACertificates } from 'node:tls';
import { once } from 'node:events';
import { loadSettings } from '../../config/load.ts';
import { openMetrics } from '../../src/core/metrics.ts';
import { callServer } from '../../src/operator-socket/client.ts';
import { type Appliance, startAppliance } from '../../src/start/appliance.ts';
import { recordingLog, type LogLine } from '../support/acme-box.ts';
import { testAuthority } from '../support/authority.ts';
import { publicPart, SIGNING_KEYS } from '../support/dkim-maker.ts';
import { AT } from '../support/network-namespace.ts';
import { type Pebble, startPebble } from '../support/pebble.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';
import { type SignedServer, startResolver, startSignedServer } from '../support/signed-zones.ts';

export const ZONE = 'shop.test';
export const HOST = `mail.${ZONE}`;

/**
 * A small internet: root, registry and provider of DNS, all signed; a validating resolver; an authority (pebble); a
 * receiver with DANE and one with MTA-STS; and a server in its first minute.
 */
export interface ToyInternet extends AsyncDisposable {
  appliance: Appliance;
  pebble: Pebble;
  /** Name server of the domain of the box. */
  provider: SignedServer;
  /** Name server of the zones above it and of the reverse names. */
  registry: SignedServer;
  dane: ScriptedServer;
  sts: ScriptedServer;
  log: LogLine[];
  ask(operation: string, input?: object): Promise<Record<string, unknown>>;
}

export async function toyInternet(settings: Record<string, string> = {}): Promise<ToyInternet> {
  await using stack = new AsyncDisposableStack();
  const dane = stack.use(await scriptedServer({}, AT.dane, 25));
  const sts = stack.use(await scriptedServer({}, AT.sts, 25));
  // Nobody knows the authority of the receiver with DANE: only its TLSA record proves it.
  const unknown = await (await testAuthority('Unknown')).issue(['mx.dane.test']);
  dane.tls = unknown.context;
  const known = await testAuthority('Known');
  const issued = await known.issue(['mx.sts.test', 'mta-sts.sts.test']);
  sts.tls = issued.context;
  stack.use(await policyServer(issued));
  const provider = stack.use(
    await startSignedServer(AT.provider, [
      { name: ZONE, records: `${HOST}. 60 IN A ${AT.box}\n${HOST}. 60 IN AAAA ${AT.box6}` },
      { name: 'dane.test', records: daneRecords(unknown.leaf.publicKey.export({ format: 'der', type: 'spki' })) },
      { name: 'sts.test', records: STS_RECORDS, signed: false },
    ]),
  );
  const registry = stack.use(
    await startSignedServer(AT.registry, [
      { name: 'test', records: `${provider.delegations}\nacme.test. 60 IN A 127.0.0.1` },
      // The test entries of RFC 5782 5.
      { name: 'com', records: '2.0.0.127.psbl.surriel.com. 60 IN A 127.0.0.2' },
      { name: 'net', records: '2.0.0.127.bl.spamcop.net. 60 IN A 127.0.0.2' },
      { name: 'arpa', records: '' },
    ]),
  );
  const root = stack.use(await startSignedServer(AT.root, [{ name: '.', records: registry.delegations }]));
  stack.use(await startResolver(AT.resolver, root));
  const pebble = stack.use(await startPebble({ dns: `${AT.resolver}:53`, httpPort: 80, tlsPort: 443 }));
  setDefaultCACertificates([pebble.root, known.pem]);
  const box = stack.use(await startBoxOf(pebble, settings));
  const all = stack.move();
  return { ...box, pebble, provider, registry, dane, sts, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function daneRecords(key: Buffer): string {
  return `dane.test. 60 IN MX 10 mx.dane.test.
mx.dane.test. 60 IN A ${AT.dane}
_25._tcp.mx.dane.test. 60 IN TLSA 3 1 1 ${createHash('sha256').update(key).digest('hex')}
dane.test. 60 IN TXT "v=spf1 ip4:${AT.dane} -all"
_dmarc.dane.test. 60 IN TXT "v=DMARC1; p=reject"
s1._domainkey.dane.test. 60 IN TXT "v=DKIM1; k=ed25519; p=${publicPart(SIGNING_KEYS.ed25519)}"`;
}

const STS_RECORDS = `sts.test. 60 IN MX 10 mx.sts.test.
mx.sts.test. 60 IN A ${AT.sts}
mta-sts.sts.test. 60 IN A ${AT.sts}
_mta-sts.sts.test. 60 IN TXT "v=STSv1; id=1"`;

/** RFC 8461 3.2. */
async function policyServer(tls: { cert: string; key: string }): Promise<AsyncDisposable> {
  const policy = 'version: STSv1\r\nmode: enforce\r\nmx: mx.sts.test\r\nmax_age: 86400\r\n';
  const server = createServer(tls, (_request, response) => {
    response.setHeader('content-type', 'text/plain').end(policy);
  });
  server.listen(443, AT.sts);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A server on an empty data directory, with the settings of its operator. */
async function startBoxOf(
  pebble: Pebble,
  more: Record<string, string>,
): Promise<Pick<ToyInternet, 'appliance' | 'log' | 'ask'> & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'toy-'));
  const dataDir = join(directory, 'data');
  const settings = loadSettings(
    {
      MAILSTEAD_HOSTNAME: HOST,
      MAILSTEAD_ACME_EMAIL: `owner@${ZONE}`,
      MAILSTEAD_ACME_DIRECTORY: pebble.directory,
      MAILSTEAD_DATA_DIR: dataDir,
      MAILSTEAD_BACKUP_TARGET: join(directory, 'backups'),
      MAILSTEAD_BACKUP_PASSPHRASE: 'six words that nobody can guess',
      // The machine has other addresses, and its resolver.
      MAILSTEAD_LISTEN: `127.0.0.1,${AT.box},${AT.box6}`,
      MAILSTEAD_OUTBOUND_ADDRESSES: `${AT.box},${AT.box6}`,
      MAILSTEAD_RESOLVERS: `${AT.resolver}:53`,
      MAILSTEAD_DNS_PORT: 'off',
      ...more,
    },
    [],
  );
  if ('problem' in settings) throw new Error(settings.problem);
  const log: LogLine[] = [];
  const appliance = await startAppliance({
    settings,
    log: recordingLog(log),
    metrics: openMetrics(),
    clock: Date.now,
    fatal: () => undefined,
    acmeTest: { roots: [pebble.serverRoot], pause: () => 50, everyMs: 200, pollMs: 20 },
  });
  return {
    appliance,
    log,
    async ask(operation, input = {}) {
      const answer = await callServer(dataDir, operation, input);
      if (answer.kind !== 'done') throw new Error(`${operation}: ${answer.message}`);
      return answer.result as Record<string, unknown>;
    },
    async [Symbol.asyncDispose]() {
      await appliance[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
