import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { privateNetworks } from '../../config/parse.ts';
import { DomainPublisher, type TlsaPublication } from '../../src/dns-providers/publisher.ts';
import { operatorCaller } from '../../src/core/caller.ts';
import { OPERATOR } from '../../mail/store/account/account.ts';
import { perform } from '../../src/operations/perform.ts';
import { findOperation } from '../../src/operations/catalogue.ts';
import { paccDigestText } from '../../src/client-setup/pacc.ts';
import { fakeResolver } from '../support/fake-resolver.ts';
import { PUBLIC_DNS } from '../support/publishing-box.ts';
import { type NameServerProcess, startBind, startKnot } from '../support/name-server-process.ts';
import { type TestContext, testWorld } from '../support/world.ts';

const ZONE = 'example.net';
/** Records of others. */
const FOREIGN = `example.net. 3600 IN A 198.51.100.7
example.net. 300 IN TXT "v=spf1 include:_spf.news.example -all"
example.net. 300 IN TXT "site-proof=abc" "def"
example.net. 3600 IN CAA 0 issue "other-ca.example"
_dmarc.example.net. 3600 IN TXT "v=DMARC1; p=reject; rua=mailto:d@example.net"
autoconfig.example.net. 3600 IN A 198.51.100.7
www.example.net. 3600 IN CNAME example.net.
_sip._tcp.example.net. 3600 IN SRV 1 2 5060 sip.example.net.`;

const SERVER = { hostname: 'mail.box.test', baseUrl: 'https://mail.box.test' };
const DIGEST = paccDigestText(ZONE, SERVER);

describe.each([
  ['Knot DNS', startKnot],
  ['BIND', startBind],
])('%s with TSIG', (_, start) => {
  test('gets exactly our records beside those of others, and loses exactly these', async () => {
    await using server = await start(ZONE, FOREIGN);
    await using box = await connectedBox(server);
    const before = zoneOf(server);
    await box.do('connect_dns_provider', { provider: 'rfc2136', credentials: credentialsOf(server) });
    expect(zoneOf(server)).toEqual(before);

    const planned = await box.do('preview_dns_changes');
    expect(zoneOf(server)).toEqual(before);
    const published = await box.do('publish_dns_records');
    expect(published['changes']).toEqual(planned['changes']);
    const after = zoneOf(server);
    const added = after.filter((line) => !before.includes(line));
    expect(added).toContain(`${ZONE}. 3600 IN MX 10 mail.box.test.`);
    expect(added).toContain(`${ZONE}. 300 IN TXT "v=spf1 a:mail.box.test include:_spf.news.example -all"`);
    expect(added.some((line) => line.startsWith('ms1._domainkey.example.net. 3600 IN TXT "v=DKIM1;'))).toBe(true);
    expect(added).toContain('_imaps._tcp.example.net. 3600 IN SRV 0 1 993 mail.box.test.');
    expect(added).toContain(`_ua-auto-config.example.net. 3600 IN TXT "${DIGEST}"`);
    const lost = before.filter((line) => !after.includes(line));
    expect(lost).toEqual([`${ZONE}. 300 IN TXT "v=spf1 include:_spf.news.example -all"`]);

    const changes = published['changes'] as { action: string; name: string }[];
    const conflicts = changes.filter(({ action }) => action === 'conflict');
    expect(conflicts.map(({ name }) => name)).toEqual([`autoconfig.${ZONE}`]);
    const suggested = changes.filter(({ action }) => action === 'suggest');
    expect(suggested.map(({ name }) => name)).toEqual([`_dmarc.${ZONE}`]);

    const again = await box.do('publish_dns_records');
    expect(new Set((again['changes'] as { action: string }[]).map(({ action }) => action))).toEqual(
      new Set(['keep', 'suggest', 'conflict']),
    );
    expect(zoneOf(server)).toEqual(after);

    await box.do('disconnect_dns_provider', { removeRecords: true });
    expect(zoneOf(server)).toEqual(before);
    await expect(box.do('publish_dns_records')).rejects.toThrow('No such DNS provider');
  });

  test('the TLSA records of a host follow its keys beside one of others', async () => {
    const host = `mail.${ZONE}`;
    const line = (hex: string): string => `_25._tcp.${host}. 3600 IN TLSA 3 1 1 ${hex.repeat(32)}`;
    await using server = await start(ZONE, `${FOREIGN}\n${line('d4')}`);
    let keys = ['a1', 'b2'];
    const tlsa = async (): Promise<TlsaPublication> => {
      return { kind: 'records', values: keys.map((hex) => `3 1 1 ${hex.repeat(32)}`) };
    };
    await using box = await connectedBox(server, { hostname: host, tlsa });
    const before = zoneOf(server);
    const published = (): string[] => zoneOf(server).filter((one) => one.includes(' TLSA '));
    await box.do('connect_dns_provider', { provider: 'rfc2136', credentials: credentialsOf(server) });
    await box.do('publish_dns_records');
    expect(published()).toEqual(['a1', 'b2', 'd4'].map(line));
    keys = ['b2', 'c3'];
    await box.do('publish_dns_records');
    expect(published()).toEqual(['b2', 'c3', 'd4'].map(line));
    await box.do('disconnect_dns_provider', { removeRecords: true });
    expect(zoneOf(server)).toEqual(before);
  });

  test('a wrong key, a wrong zone and a server that is away are distinguished', async () => {
    await using server = await start(ZONE, FOREIGN);
    await using box = await connectedBox(server);
    const wrong = { ...credentialsOf(server), secret: Buffer.alloc(32, 7).toString('base64') };
    const connect = (credentials: object): Promise<unknown> =>
      box.do('connect_dns_provider', { provider: 'rfc2136', credentials });
    await expect(connect(wrong)).rejects.toThrow('refused the TSIG key');
    await expect(connect({ ...credentialsOf(server), port: '1' })).rejects.toThrow('ECONNREFUSED');
    await expect(connect({ ...credentialsOf(server), server: '10.1.2.3' })).rejects.toThrow('private address');
  });
});

interface ConnectedBox extends AsyncDisposable {
  do(operation: string, args?: object): Promise<Record<string, unknown>>;
}

/** A world with the domain, whose publisher may reach the server. */
async function connectedBox(
  server: NameServerProcess,
  { hostname = SERVER.hostname, ...more }: { hostname?: string; tlsa?: () => Promise<TlsaPublication> } = {},
): Promise<ConnectedBox> {
  const test = await testWorld();
  const networks = privateNetworks(`127.0.0.1:${server.port},127.0.0.1:1`);
  const allowPrivateNetworks = networks.ok ? networks.value : expect.fail();
  const settings = { ...test.world.settings, ...SERVER, hostname, allowPrivateNetworks };
  const publisher = new DomainPublisher({
    ...test.world,
    settings,
    lookNow: fakeResolver(PUBLIC_DNS),
    clock: Date.now,
    transport: () => Promise.reject(new Error('no HTTP here')),
    sleep: () => Promise.resolve(),
    ...more,
  });
  const world: TestContext = { ...test.world, settings, dnsPublisher: publisher };
  const run = async (operation: string, args: object): Promise<Record<string, unknown>> => {
    const found = findOperation(operation) ?? expect.fail(operation);
    const outcome = await perform(world, found, operatorCaller(OPERATOR), args);
    if (outcome.kind === 'refused') throw new Error(outcome.refusal.message);
    return outcome.result;
  };
  await run('add_email_domain', { domain: ZONE });
  return {
    do: (operation, args = {}) => run(operation, { domain: ZONE, ...args }),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

function credentialsOf({ port, keyName, secret }: NameServerProcess): Record<string, string> {
  return { server: '127.0.0.1', port: String(port), keyName, secret };
}

/** All records but the SOA, whose serial number counts updates. */
function zoneOf({ port, keyName, secret }: NameServerProcess): string[] {
  const args = [join(import.meta.dirname, 'axfr.py'), String(port), ZONE, keyName, secret];
  return execFileSync('/usr/bin/python3', args, { encoding: 'utf8' }).trim().split('\n');
}
