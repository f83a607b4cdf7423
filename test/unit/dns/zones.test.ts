import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeCertificate } from '../../../src/certificates/commands.ts';
import { ensureNextKey } from '../../../src/certificates/sealed-keys.ts';
import { boxZones } from '../../../src/domains/zones.ts';
import { paccDigestText } from '../../../src/client-setup/pacc.ts';
import { ownServer } from '../../../src/domains/records.ts';
import type { FindZone } from '../../../src/name-server/zone.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { removeEmailDomain } from '../../../src/operations/domains/remove.ts';
import { deleteEmail } from '../../../src/operations/mailboxes/delete.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { calls, type Calls } from '../../support/calls.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const HOST = 'mail.box.example';
let box: Calls;
let owner: Caller;
let dns: FakeZone;
let find: FindZone;

beforeEach(async () => {
  dns = { [`A ${HOST}`]: ['192.0.2.10'], [`AAAA ${HOST}`]: ['2001:db8::10'] };
  const resolver = fakeResolver(dns);
  const settings = { live: true, hostname: HOST, ports: { dns: { port: 53 } } as never };
  box = await calls({ lookNow: resolver, resolver, settings });
  owner = await box.organization('Owner');
  find = boxZones(box.world.store, resolver, { hostname: HOST, baseUrl: `https://${HOST}` });
});
afterEach(() => box[Symbol.asyncDispose]());

async function add(name: string, led: boolean | string[]): Promise<number> {
  if (led !== false) dns[`NS ${name}`] = led === true ? [HOST] : led;
  const { domain } = await box.done<{ domain: { id: string } }>(owner, addEmailDomain, { domain: name });
  return Number(domain.id.slice(4));
}

test('the zone of the keys has each key under a name that stays, and nothing else', async () => {
  const id = await add('d.example', false);
  const keys = `dkim.${HOST}`;
  expect(await find(keys)).toMatchObject({ apex: keys, exists: true, records: [{ type: 'NS', value: HOST }] });
  expect((await find(`ms1.dom_${id}.${keys}`))?.records).toEqual([
    { type: 'TXT', value: expect.stringMatching(/^v=DKIM1; k=rsa; p=[\w+/]{300,}=*$/) },
  ]);
  // A CNAME to a selector that waits for its key is right.
  expect(await find(`ms4.dom_${id}.${keys}`)).toMatchObject({ exists: true, records: [] });
  expect(await find(`dom_${id}.${keys}`)).toMatchObject({ exists: true, records: [] });
  for (const name of [
    `ms5.dom_${id}`,
    `ms1.dom_${id + 1}`,
    `a.ms1.dom_${id}`,
    'ms1.dom_x',
    'ms1.dom_0',
    'x',
    '_dmarc',
    '',
  ]) {
    expect(await find(`${name}.${keys}`), name).toMatchObject({ apex: keys, exists: false, records: [] });
  }
});

test('the keys of the certificate in use have TLSA records, unless the operator has own files', async () => {
  const { store, secrets } = box.world;
  const name = `_25._tcp.dkim.${HOST}`;
  const [first] = await ensureNextKey({ store, secrets }, HOST, 'ecdsa');
  expect(await find(name), 'no certificate yet').toMatchObject({ exists: true, records: [] });
  const spki = first?.spki ?? expect.fail('no key');
  const dates = { notBefore: 0, notAfter: 9, renewAt: 5, windowAt: 1 };
  await store.write(storeCertificate, { name: HOST, algorithm: 'ecdsa', names: [HOST], chain: '', spki, ...dates });
  await ensureNextKey({ store, secrets }, HOST, 'ecdsa');
  const records = (await find(name))?.records ?? [];
  expect(records).toHaveLength(2);
  expect(records).toContainEqual({ type: 'TLSA', value: spki });
  const withFiles = boxZones(store, fakeResolver(dns), { hostname: HOST, ownFiles: true });
  expect((await withFiles(name))?.records).toEqual([]);
});

test('a claim has a name server of its own with the addresses of the box', async () => {
  const id = await add('d.example', false);
  expect((await find(ownServer(id, HOST)))?.records).toEqual([
    { type: 'A', value: '192.0.2.10' },
    { type: 'AAAA', value: '2001:db8::10' },
  ]);
  for (const name of [`dom-0${id}`, `dom_${id}`, 'dom-', 'dom-x', 'prj-1', `a.dom-${id}`]) {
    expect(await find(`${name}.ns.dkim.${HOST}`), name).toMatchObject({ exists: false });
  }
  // Host names that a registry accepts.
  expect(ownServer(id, HOST)).toMatch(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]+$/);
  expect(await find(`ns.dkim.${HOST}`)).toMatchObject({ exists: true, records: [] });
});

test('a domain that leads here has all its records, and names between them exist', async () => {
  await add('led.example', true);
  expect((await find('led.example'))?.records.map((one) => one.type)).toEqual(['NS', 'MX', 'TXT']);
  expect((await find('_dmarc.led.example'))?.records).toHaveLength(1);
  expect((await find('ms2._domainkey.led.example'))?.records).toHaveLength(1);
  expect((await find('_ua-auto-config.led.example'))?.records).toEqual([
    { type: 'TXT', value: paccDigestText('led.example', { hostname: HOST, baseUrl: `https://${HOST}` }) },
  ]);
  expect(await find('_domainkey.led.example')).toMatchObject({ apex: 'led.example', exists: true, records: [] });
  expect(await find('www.led.example')).toMatchObject({ exists: false });
});

test('a domain has the name servers that the zone above was seen to have', async () => {
  const id = await add('led.example', false);
  const own = ownServer(id, HOST);
  const servers = async () =>
    (await find('led.example'))?.records.filter((one) => one.type === 'NS').map((one) => one.value);
  for (const [above, served] of [
    [[own], [own]],
    [
      [HOST, 'ns.other.example', own],
      [own, HOST],
    ],
    [['ns.other.example', HOST], [HOST]],
  ] as const) {
    await add('led.example', [...above]);
    expect(await servers()).toEqual(served);
  }
  await add('led.example', ['ns.other.example']);
  expect(await servers()).toBeUndefined();
});

test.each([
  'example',
  'd.example',
  'other.example',
  'xled.example',
  'led.example.com',
  'box.example',
  HOST,
  `www.${HOST}`,
  `xdkim.${HOST}`,
  '',
  `${'a.'.repeat(100)}example`,
])('the name %j is not the box’s to answer for', async (name) => {
  await add('led.example', true);
  await add('d.example', false);
  expect(await find(name)).toBeUndefined();
});

test('the records vanish with the last mailbox and with the domain', async () => {
  await add('led.example', true);
  await box.done(owner, provisionEmail, { domain: 'led.example', localPart: 'a' });
  await box.done(owner, provisionEmail, { domain: 'led.example', localPart: 'b' });
  expect(await box.done(owner, deleteEmail, { address: 'a@led.example' })).toMatchObject({ domainDnsTornDown: false });
  expect(await find('led.example')).toBeDefined();
  expect(await box.done(owner, deleteEmail, { address: 'b@led.example' })).toMatchObject({ domainDnsTornDown: true });
  expect(await find('led.example')).toBeUndefined();
  await box.done(owner, provisionEmail, { domain: 'led.example', localPart: 'c' });
  expect(await find('led.example')).toBeDefined();
  await box.done(owner, deleteEmail, { address: 'c@led.example' });
  const id = await add('led.example', true);
  await box.done(owner, removeEmailDomain, { domain: 'led.example' });
  expect(await find('led.example')).toBeUndefined();
  expect(await find(`ms1.dom_${id}.dkim.${HOST}`)).toMatchObject({ exists: false });
});
