import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { getAsHost } from '../support/get-as-host.ts';
import { readXml } from '../support/xml.ts';

let box: Box;
beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

const url = (path: string): string => `http://127.0.0.1:${box.port('http')}${path}`;
const get = (path: string, host?: string) => getAsHost(url(path), host);

test.each(['/mail/config-v1.1.xml', '/.well-known/autoconfig/mail/config-v1.1.xml'])(
  'Thunderbird finds its settings at %s, the same for addresses that do not exist',
  async (path) => {
    const found = await get(`${path}?emailaddress=${box.address}`);
    expect(found).toMatchObject({ status: 200, type: 'text/xml; charset=utf-8' });
    expect(readXml(found.body).name).toBe('clientConfig');
    expect(found.body).toContain(`<port>${box.port('imaps')}</port>`);
    const other = await get(`${path}?emailaddress=nobody@box.test`);
    expect(other.body).toBe(found.body.replaceAll(box.address, 'nobody@box.test'));
    expect((await get(path, 'autoconfig.box.test')).body).toContain('%EMAILADDRESS%');
    expect((await get(`${path}?emailaddress=me@foreign.test`)).status).toBe(404);
    expect((await get(path, 'autoconfig.foreign.test')).status).toBe(404);
  },
);

const REQUEST = (address: string): string =>
  `<Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/requestschema/2006"><Request><EMailAddress>${address}</EMailAddress><AcceptableResponseSchema>http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a</AcceptableResponseSchema></Request></Autodiscover>`;

test('Outlook finds its settings by both versions of Autodiscover', async () => {
  for (const path of ['/autodiscover/autodiscover.xml', '/Autodiscover/Autodiscover.xml']) {
    const post = (address: string) =>
      fetch(url(path), { method: 'POST', headers: { 'content-type': 'text/xml' }, body: REQUEST(address) });
    const found = await (await post(box.address)).text();
    expect(readXml(found).children[0]?.children[1]?.name).toBe('Account');
    const foreign = await (await post('me@foreign.test')).text();
    expect(foreign).toContain('<ErrorCode>600</ErrorCode>');
    expect((await post(`me@box.test${'x'.repeat(20_000)}`)).status).toBe(413);
  }
  const second = await fetch(url(`/autodiscover/autodiscover.json?Email=${box.address}&Protocol=AutodiscoverV1`));
  expect(await second.json()).toEqual({
    Protocol: 'AutodiscoverV1',
    Url: url('/autodiscover/autodiscover.xml'),
  });
  const path = await get(`/autodiscover/autodiscover.json/v1.0/${box.address}?Protocol=ActiveSync`);
  expect(path).toMatchObject({ status: 400 });
  expect((await get('/autodiscover/autodiscover.json?Email=a@foreign.test&Protocol=AutodiscoverV1')).status).toBe(404);
});

test('PACC: the document of a domain is found by its host name, and its octets are stable', async () => {
  const path = '/.well-known/user-agent-configuration.json';
  const first = await get(path, 'ua-auto-config.box.test');
  expect(first).toMatchObject({ status: 200, type: 'application/json' });
  expect((await get(path, 'ua-auto-config.box.test')).body).toBe(first.body);
  expect((await get(path, 'ua-auto-config.foreign.test')).status).toBe(404);
});

test('PACC: a live server lists the digest of the octets that it serves', async () => {
  await using live = await startBox({ hostname: 'mail.team.test' });
  await live.ask('add_domain', { domain: 'team.test' });
  const path = `http://127.0.0.1:${live.port('http')}/.well-known/user-agent-configuration.json`;
  const { status, body } = await getAsHost(path, 'ua-auto-config.team.test');
  expect(status).toBe(200);
  const value = `v=UAAC1; a=sha256; d=${createHash('sha256').update(body).digest('base64')}`;
  const { records } = (await live.ask('list_dns_records', { domain: 'team.test' })) as { records: object[] };
  const wanted = { type: 'TXT', name: '_ua-auto-config.team.test', value, purpose: 'client_setup', required: false };
  expect(records).toContainEqual(expect.objectContaining(wanted));
  const { zone } = (await live.ask('export_zone', { domain: 'team.test' })) as { zone: string };
  expect(zone).toContain(`_ua-auto-config.team.test. 3600 IN TXT "${value}"\n`);
});

test('the MTA-STS policy of a domain is served under its own host name only, and its id changes with the mode', async () => {
  const path = '/.well-known/mta-sts.txt';
  expect((await get(path, 'mta-sts.box.test')).status).toBe(404);
  const set = async (mode: string) =>
    (await box.ask('set_mta_sts', { domain: 'box.test', mode })) as { record: { value: string } };
  const testing = await set('testing');
  expect(testing.record).toEqual({
    type: 'TXT',
    name: '_mta-sts.box.test',
    value: expect.stringMatching(/^v=STSv1; id=\d{17};$/) as unknown,
  });
  const served = await get(path, 'mta-sts.box.test');
  expect(served).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8' });
  expect(served.body).toBe('version: STSv1\r\nmode: testing\r\nmx: box.test\r\nmax_age: 86400\r\n');
  expect((await get(path, 'box.test')).status).toBe(404);
  expect((await get(path, 'mta-sts.foreign.test')).status).toBe(404);
  expect((await set('testing')).record).toEqual(testing.record);
  expect((await set('enforce')).record.value).not.toBe(testing.record.value);
  expect((await get(path, 'mta-sts.box.test')).body).toContain('mode: enforce\r\n');
});

interface Link {
  url: string;
}

async function use(link: string, how: string): Promise<Response> {
  const token = new URL(link).searchParams.get('token') ?? '';
  const origin = new URL(link).origin;
  const body = new URLSearchParams({ token, use: how });
  return fetch(`${origin}/auth/device`, { method: 'POST', headers: { origin, 'sec-fetch-site': 'same-origin' }, body });
}

test('a profile for a phone is signed by the box, parses, logs in with a password of its own, and its link works once', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'profile-'));
  try {
    const link = (await box.ask('create_device_link', { address: box.address, name: 'phone' })) as Link;
    // Previews of messengers open links: they do not use it up.
    for (let visit = 0; visit < 3; visit += 1) expect((await fetch(link.url)).status).toBe(200);
    const response = await use(link.url, 'profile');
    expect(response.headers.get('content-type')).toBe('application/x-apple-aspen-config');
    const file = join(directory, 'mail.mobileconfig');
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
    const certificate = join(box.dataDir, 'tls', 'self-signed.pem');
    const check = [
      'cms',
      '-verify',
      '-inform',
      'DER',
      '-binary',
      '-CAfile',
      certificate,
      '-purpose',
      'any',
      '-in',
      file,
    ];
    const plist = execFileSync('openssl', check, { stdio: ['ignore', 'pipe', 'pipe'] });
    const script =
      'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())["PayloadContent"][0]))';
    const account = JSON.parse(execFileSync('python3', ['-c', script], { input: plist }).toString()) as Record<
      string,
      string
    >;
    expect(account).toMatchObject({ EmailAddress: box.address, IncomingMailServerPortNumber: box.port('imaps') });
    const login = `${box.address}:${account['IncomingPassword']}`;
    const imap = ['-sk', '--user', login, `imaps://127.0.0.1:${box.port('imaps')}/`, '-X', 'NOOP'];
    expect(execFileSync('curl', imap).toString()).toBe('');
    expect((await use(link.url, 'profile')).status).toBe(410);
    expect((await fetch(link.url)).status).toBe(410);
    const { appPasswords } = (await box.ask('list_app_passwords', { address: box.address })) as {
      appPasswords: { name: string; person: boolean }[];
    };
    expect(appPasswords.filter(({ name }) => name === 'phone')).toMatchObject([{ person: true }]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('of two uses of a link at the same time one gets a password', async () => {
  const link = (await box.ask('create_device_link', { address: box.address, name: 'tablet' })) as Link;
  const all = await Promise.all([1, 2, 3, 4].map(() => use(link.url, 'settings')));
  expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 410, 410, 410]);
  const texts = await Promise.all(all.map((one) => one.text()));
  expect(texts.filter((text) => text.includes(box.address))).toHaveLength(1);
});
