import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { privateNetworks } from '../../../config/parse.ts';
import { quiet } from '../../../mail/log.ts';
import { DnsSync } from '../../../src/dns-providers/sync.ts';
import { FAKE_ZONE, json } from '../../support/dns-apis/fake-dns-api.ts';
import { fakeHetzner } from '../../support/dns-apis/set-apis.ts';
import { hostileNameServer } from '../../support/hostile-name-server.ts';
import { publishingBox } from '../../support/publishing-box.ts';

/** An MX record whose host has a label with dots, which no name in text form can have. */
const ODD_MX = Buffer.from('\0\x0a\x04a..b\0', 'latin1');

/** The domain of a tenant with a name server of their own, and the domain of another at a provider. */
async function twoDomains() {
  const server = await hostileNameServer('example.org');
  const api = fakeHetzner();
  const networks = privateNetworks(`127.0.0.1:${server.credentials['port']}`);
  const settings = { allowPrivateNetworks: networks.ok ? networks.value : expect.fail() };
  const time = { now: Date.now() };
  const clock = (): number => time.now;
  const box = await publishingBox('example.org', {
    clock,
    settings,
    transport: (request) => Promise.resolve(api.answer(request)),
  });
  const { store, secrets } = box.world;
  await box.do('connect_dns_provider', { provider: 'rfc2136', credentials: server.credentials });
  await box.do('publish_dns_records');
  await box.do('add_email_domain', { domain: FAKE_ZONE });
  await box.do('connect_dns_provider', { domain: FAKE_ZONE, provider: 'hetzner', credentials: api.credentials });
  await box.do('publish_dns_records', { domain: FAKE_ZONE });
  const sync = new DnsSync({ store, secrets, publisher: box.publisher, clock, log: quiet });
  return { server, api, box, sync, time };
}

test('a name server with names that cannot be written is refused in a sentence, and stops no other domain', async () => {
  const { server, api, box, sync, time } = await twoDomains();
  await using _server = server;
  await using _box = box;
  await sync.run();
  server.mx = ODD_MX;
  await expect(box.do('preview_dns_changes')).rejects.toThrow('domain name');
  await box.do('set_dmarc_policy', { domain: FAKE_ZONE, policy: 'reject' });
  time.now += 31 * 60_000;
  await sync.run();
  const texts = api.zone.records.filter(({ name }) => name.startsWith('_dmarc.')).map(({ data }) => data);
  expect(texts).toEqual([expect.stringContaining('p=reject;')]);
});

test('a name server with hundreds of records at a name is refused before they are read', async () => {
  const { server, box } = await twoDomains();
  await using _server = server;
  await using _box = box;
  server.addresses = 100;
  expect(await box.do('preview_dns_changes')).toMatchObject({ zone: 'example.org' });
  server.addresses = 300;
  await expect(box.do('preview_dns_changes')).rejects.toThrow('more than 200 records at one name');
});

test('a provider that demands waits until the time is over is given up in a sentence', async () => {
  const api = fakeHetzner();
  let busy = false;
  await using box = await publishingBox(FAKE_ZONE, {
    transport: (request) => Promise.resolve(busy ? json({}, 429, { 'retry-after': '10' }) : api.answer(request)),
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal: AbortSignal.any([signal, AbortSignal.abort()]) }),
  });
  await box.do('connect_dns_provider', { provider: 'hetzner', credentials: api.credentials });
  busy = true;
  await expect(box.do('preview_dns_changes')).rejects.toThrow('did not finish in time');
});

test('an error nobody thought of at one domain stops no other', async () => {
  const { server, api, box, sync } = await twoDomains();
  await using _server = server;
  await using _box = box;
  const publish = box.publisher.publish.bind(box.publisher);
  vi.spyOn(box.publisher, 'publish').mockImplementation((domain, ...rest) => {
    return domain.name === FAKE_ZONE ? publish(domain, ...rest) : Promise.reject(new Error('a surprise'));
  });
  await box.do('set_dmarc_policy', { domain: FAKE_ZONE, policy: 'reject' });
  await sync.run();
  const texts = api.zone.records.filter(({ name }) => name.startsWith('_dmarc.')).map(({ data }) => data);
  expect(texts).toEqual([expect.stringContaining('p=reject;')]);
});

test.each(['', 'a..b', `${'x'.repeat(64)}.example`])(
  'the name %o of a key is refused in a sentence',
  async (keyName) => {
    const { server, box } = await twoDomains();
    await using _server = server;
    await using _box = box;
    const credentials = { ...server.credentials, keyName: keyName === '' ? '.' : keyName };
    await expect(box.do('connect_dns_provider', { provider: 'rfc2136', credentials })).rejects.toThrow(
      /domain name|TSIG key|signed with the key/,
    );
  },
);
