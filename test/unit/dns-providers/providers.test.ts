import { describe, expect, test } from 'vitest';
import { DNS_PROVIDERS } from '../../../src/dns-providers/providers.ts';
import type { ProviderResponse, ProviderTransport } from '../../../src/dns-providers/transport.ts';
import { paccDigestText } from '../../../src/client-setup/pacc.ts';
import type { TlsaPublication } from '../../../src/dns-providers/publisher.ts';
import { DnsProviderError } from '../../../src/dns-providers/provider-error.ts';
import { type FakeDnsApi, FAKE_ZONE, json } from '../../support/dns-apis/fake-dns-api.ts';
import { fakeCloudflare, fakeDigitalOcean, fakeOvh, fakePorkbun } from '../../support/dns-apis/record-apis.ts';
import { fakeDesec, fakeGandi, fakeHetzner, fakeRoute53 } from '../../support/dns-apis/set-apis.ts';
import { publishingBox } from '../../support/publishing-box.ts';

const FAKES = [
  fakeCloudflare,
  fakeHetzner,
  fakeDigitalOcean,
  fakeDesec,
  fakePorkbun,
  fakeGandi,
  fakeRoute53,
  fakeOvh,
].map((make): [string, () => FakeDnsApi] => [make().provider, make]);

/** Records of others; two texts stand at the top of the zone. */
const FOREIGN: [string, string, string][] = [
  [FAKE_ZONE, 'A', '198.51.100.7'],
  [FAKE_ZONE, 'TXT', '"v=spf1 include:_spf.news.example -all"'],
  [FAKE_ZONE, 'TXT', '"site-proof=a\\"b"'],
  [FAKE_ZONE, 'CAA', '0 issue "other-ca.example"'],
  [`_dmarc.${FAKE_ZONE}`, 'TXT', '"v=DMARC1; p=reject; rua=mailto:d@example.net"'],
  [`autoconfig.${FAKE_ZONE}`, 'A', '198.51.100.7'],
  [`www.${FAKE_ZONE}`, 'CNAME', `${FAKE_ZONE}.`],
  [`_sip._tcp.${FAKE_ZONE}`, 'SRV', '1 2 5060 sip.example.net.'],
];

function withForeign(make: () => FakeDnsApi): FakeDnsApi {
  const api = make();
  for (const [name, type, data] of FOREIGN) api.zone.add(name, type, 3600, data);
  return api;
}

/** Answers that go before those of the API. */
function transportTo(api: FakeDnsApi): {
  transport: ProviderTransport;
  first: (ProviderResponse | Error)[];
  count: () => number;
} {
  const first: (ProviderResponse | Error)[] = [];
  let requests = 0;
  const transport: ProviderTransport = async (request) => {
    requests += 1;
    const planned = first.shift();
    if (planned instanceof Error) throw planned;
    return planned ?? api.answer(request);
  };
  return { transport, first, count: () => requests };
}

const boxFor = ({ transport }: { transport: ProviderTransport }) =>
  publishingBox(FAKE_ZONE, { transport, settings: { acme: letsEncrypt, baseUrl: 'https://mail.box.test' } });
const letsEncrypt = {
  email: 'a@example.net',
  directory: 'https://acme-v02.api.letsencrypt.org/directory',
  challenge: 'auto',
  rsa: false,
} as const;

const DIGEST_NAME = `_ua-auto-config.${FAKE_ZONE}`;
const HASHES = ['a1', 'b2', 'c3'].map((hex) => `3 1 1 ${hex.repeat(32)}`);
const OTHER_KEY = `3 1 1 ${'d4'.repeat(32)}`;

test.each(FAKES.filter(([provider]) => provider !== 'digitalocean'))(
  '%s: TLSA records of the host follow its keys beside one of others, and stay while nobody knows if the zone is signed',
  async (provider, make) => {
    const api = make();
    const host = `mail.${FAKE_ZONE}`;
    api.zone.add(`_25._tcp.${host}`, 'TLSA', 3600, OTHER_KEY);
    let found: TlsaPublication = { kind: 'unknown' };
    const settings = { hostname: host };
    await using box = await publishingBox(FAKE_ZONE, { ...transportTo(api), settings, tlsa: async () => found });
    const published = async (): Promise<string[]> => {
      await box.do('publish_dns_records');
      const there = api.zone.records.filter(({ type }) => type === 'TLSA');
      expect(new Set(there.map(({ name }) => name))).toEqual(new Set([`_25._tcp.${host}`]));
      return there.map(({ data }) => data).toSorted();
    };
    await box.do('connect_dns_provider', { provider, credentials: api.credentials });
    expect(await published()).toEqual([OTHER_KEY]);
    found = { kind: 'records', values: HASHES.slice(0, 2) };
    expect(await published()).toEqual([...HASHES.slice(0, 2), OTHER_KEY]);
    found = { kind: 'unknown' };
    expect(await published()).toEqual([...HASHES.slice(0, 2), OTHER_KEY]);
    found = { kind: 'records', values: HASHES.slice(1) };
    expect(await published()).toEqual([...HASHES.slice(1), OTHER_KEY]);
    await box.do('disconnect_dns_provider', { removeRecords: true });
    expect(api.zone.lines()).toEqual([`_25._tcp.${host} 3600 TLSA ${OTHER_KEY}`]);
  },
);

test('a provider without TLSA records gets all others, and says so', async () => {
  const api = fakeDigitalOcean();
  const tlsa = (): Promise<TlsaPublication> => Promise.resolve({ kind: 'records', values: HASHES });
  const settings = { hostname: `mail.${FAKE_ZONE}` };
  await using box = await publishingBox(FAKE_ZONE, { ...transportTo(api), settings, tlsa });
  await box.do('connect_dns_provider', { provider: 'digitalocean', credentials: api.credentials });
  await expect(box.do('publish_dns_records')).rejects.toThrow('DigitalOcean has no TLSA records');
  expect(api.zone.lines().some((line) => line.includes('_jmap._tcp'))).toBe(true);
});

test('a domain that does not have the name of the host gets no TLSA record', async () => {
  const api = fakeHetzner();
  const tlsa = (): Promise<TlsaPublication> => Promise.resolve({ kind: 'records', values: HASHES });
  await using box = await publishingBox(FAKE_ZONE, { ...transportTo(api), tlsa });
  await box.do('connect_dns_provider', { provider: 'hetzner', credentials: api.credentials });
  await box.do('publish_dns_records');
  expect(api.zone.records.some(({ type }) => type === 'TLSA')).toBe(false);
});

test.each(FAKES)(
  '%s: the digest of the settings document follows the URL of the server, and goes',
  async (provider, make) => {
    const api = make();
    const published = () => api.zone.records.flatMap(({ name, data }) => (name === DIGEST_NAME ? [data] : []));
    const urls = ['https://mail.box.test', 'https://portal.box.test'];
    const text = (baseUrl: string) => `"${paccDigestText(FAKE_ZONE, { hostname: 'mail.box.test', baseUrl })}"`;
    const settings = { baseUrl: urls[0] };
    await using box = await publishingBox(FAKE_ZONE, { ...transportTo(api), settings });
    await box.do('connect_dns_provider', { provider, credentials: api.credentials });
    for (const baseUrl of urls) {
      Object.assign(box.world.settings, { baseUrl });
      await box.do('publish_dns_records');
      expect(published()).toEqual([text(baseUrl)]);
    }
    await box.do('disconnect_dns_provider', { removeRecords: true });
    expect(api.zone.lines()).toEqual([]);
  },
);

test('a digest of another server stays, and is a conflict', async () => {
  const api = fakeHetzner();
  const foreign = '"v=UAAC1; a=sha256; d=OTHER="';
  api.zone.add(DIGEST_NAME, 'TXT', 3600, foreign);
  const settings = { baseUrl: 'https://mail.box.test' };
  await using box = await publishingBox(FAKE_ZONE, { ...transportTo(api), settings });
  await box.do('connect_dns_provider', { provider: 'hetzner', credentials: api.credentials });
  const { changes } = (await box.do('publish_dns_records')) as { changes: { action: string; name: string }[] };
  expect(changes.filter(({ action }) => action === 'conflict').map(({ name }) => name)).toEqual([DIGEST_NAME]);
  expect(api.zone.records.filter(({ name }) => name === DIGEST_NAME).map(({ data }) => data)).toEqual([foreign]);
});

test('every provider with an HTTP interface has a fake', () => {
  const ids = DNS_PROVIDERS.map(({ id }) => id).filter((id) => id !== 'rfc2136');
  expect(FAKES.map(([id]) => id).toSorted()).toEqual(ids.toSorted());
});

describe.each(FAKES)('%s', (provider, make) => {
  test('gets exactly our records beside those of others, and loses exactly these', async () => {
    const api = withForeign(make);
    await using box = await boxFor(transportTo(api));
    const before = api.zone.lines();
    await box.do('connect_dns_provider', { provider, credentials: api.credentials });
    const planned = await box.do('preview_dns_changes');
    expect(api.zone.lines()).toEqual(before);

    const published = await box.do('publish_dns_records');
    expect(published['changes']).toEqual(planned['changes']);
    const after = api.zone.lines();
    const added = after.filter((line) => !before.includes(line)).map((line) => line.replace(/ \d+ /, ' '));
    expect(added).toContain(`${FAKE_ZONE} MX 10 mail.box.test.`);
    expect(added).toContain(`${FAKE_ZONE} TXT "v=spf1 a:mail.box.test include:_spf.news.example -all"`);
    expect(added).toContain(`${FAKE_ZONE} CAA 0 issue "letsencrypt.org"`);
    expect(added).toContain(`autodiscover.${FAKE_ZONE} CNAME mail.box.test.`);
    expect(added).toContain(`_imaps._tcp.${FAKE_ZONE} SRV 0 1 993 mail.box.test.`);
    expect(added.some((line) => line.startsWith(`ms1._domainkey.${FAKE_ZONE} TXT "v=DKIM1;`))).toBe(true);
    const lost = before.filter((line) => !after.includes(line));
    expect(lost).toEqual([`${FAKE_ZONE} 3600 TXT "v=spf1 include:_spf.news.example -all"`]);

    const again = await box.do('publish_dns_records');
    const actions = (again['changes'] as { action: string }[]).map(({ action }) => action);
    expect(new Set(actions)).toEqual(new Set(['keep', 'suggest', 'conflict']));
    expect(api.zone.lines()).toEqual(after);

    await box.do('disconnect_dns_provider', { removeRecords: true });
    expect(api.zone.lines()).toEqual(before);
  });

  test('reads all pages, and finds the zone above the domain', async () => {
    const api = withForeign(make);
    for (let i = 0; i < 1300; i++) api.zone.add(`host${i}.${FAKE_ZONE}`, 'A', 3600, '192.0.2.1');
    api.zone.add(`shop.${FAKE_ZONE}`, 'MX', 3600, '5 mx.other.example.');
    await using box = await publishingBox(`shop.${FAKE_ZONE}`, transportTo(api));
    const connected = await box.do('connect_dns_provider', { provider, credentials: api.credentials });
    expect(connected['zone']).toBe(FAKE_ZONE);
    const { changes } = await box.do('preview_dns_changes');
    expect(changes).toContainEqual({
      action: 'conflict',
      type: 'MX',
      name: `shop.${FAKE_ZONE}`,
      value: '10 mail.box.test',
      before: '5 mx.other.example',
      why: expect.stringContaining('goes to another server') as string,
    });
  });

  test('wrong credentials, a foreign domain, and failures are reported in words', async () => {
    const api = withForeign(make);
    const link = transportTo(api);
    await using box = await boxFor(link);
    const wrong = Object.fromEntries(Object.keys(api.credentials).map((name) => [name, 'wrong']));
    const connect = (credentials: object): Promise<unknown> =>
      box.do('connect_dns_provider', { provider, credentials });
    await expect(connect({ ...wrong, ...('endpoint' in wrong && { endpoint: 'eu' }) })).rejects.toThrow(
      'refused the credentials',
    );
    await connect(api.credentials);
    const preview = (): Promise<unknown> => box.do('preview_dns_changes');
    link.first.push(json({ message: 'a bad day' }, 503));
    await expect(preview()).rejects.toThrow(/failed \(HTTP 503: a bad day\)/);
    link.first.push(new DnsProviderError('unavailable', 'api.example did not answer in time. Try again later.'));
    await expect(preview()).rejects.toThrow('did not answer in time');
    link.first.push(json({}, 429, { 'retry-after': '3600' }));
    await expect(preview()).rejects.toThrow('Try again in 3600 seconds');
    link.first.push(json({}, 429, { 'retry-after': '2' }));
    await preview();
    expect(box.waits).toEqual([2000]);
    link.first.push({ status: 200, headers: {}, body: '<html>' });
    if (provider !== 'route53') await expect(preview()).rejects.toThrow('cannot be read');

    await using other = await publishingBox('example.com', link);
    await expect(other.do('connect_dns_provider', { provider, credentials: api.credentials })).rejects.toThrow(
      'has no zone for example.com',
    );
  });

  test('a publication that fails in the middle is completed by the next, and taken back whole', async () => {
    const api = withForeign(make);
    const link = transportTo(api);
    await using box = await boxFor(link);
    const before = api.zone.lines();
    await box.do('connect_dns_provider', { provider, credentials: api.credentials });
    await box.do('preview_dns_changes');
    const requests = link.count();
    await box.do('preview_dns_changes');
    const reading = link.count() - requests;
    // The revoked token fails the seventh change.
    const pass = Array.from({ length: reading + 6 }, () => undefined as unknown as ProviderResponse);
    link.first.push(...pass, json({ message: 'revoked' }, 401));
    await expect(box.do('publish_dns_records')).rejects.toThrow('revoked');
    expect(api.zone.lines()).not.toEqual(before);
    expect(await box.do('get_dns_provider')).toMatchObject({
      connected: { error: expect.stringContaining('revoked') as string },
    });
    await box.do('publish_dns_records');
    expect(await box.do('get_dns_provider')).toMatchObject({ connected: { error: null } });
    await box.do('disconnect_dns_provider', { removeRecords: true });
    expect(api.zone.lines()).toEqual(before);
  });
});

test('credentials are stored sealed, and no operation shows them', async () => {
  const api = withForeign(fakeCloudflare);
  api.credentials = { token: 'good' };
  await using box = await boxFor(transportTo(api));
  await box.do('connect_dns_provider', { provider: 'cloudflare', credentials: api.credentials });
  const shown = JSON.stringify(await box.do('get_dns_provider'));
  expect(shown).toContain('"zone":"example.net"');
  expect(shown).not.toContain('"good"');
  const sealed = await box.sealed();
  expect(sealed.length).toBeGreaterThan(0);
  expect(sealed.includes('good')).toBe(false);
});

test('unknown, missing and impossible credentials are refused before any request', async () => {
  const link = transportTo(fakeCloudflare());
  await using box = await boxFor(link);
  const connect = (provider: string, credentials: object): Promise<unknown> =>
    box.do('connect_dns_provider', { provider, credentials });
  await expect(connect('cloudflare', {})).rejects.toThrow('credentials has no token');
  await expect(connect('cloudflare', { token: 'a', key: 'b' })).rejects.toThrow('unknown field key');
  await expect(connect('cloudflare', { token: 'a b' })).rejects.toThrow('characters that no token has');
  await expect(
    connect('ovh', { endpoint: 'xx', applicationKey: 'a', applicationSecret: 'b', consumerKey: 'c' }),
  ).rejects.toThrow('region must be');
  expect(link.count()).toBe(0);
});
