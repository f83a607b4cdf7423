import type { Caller } from '../../../src/core/caller.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressKey, parseAddress } from '../../../mail/message/address.ts';
import { ownsAddress } from '../../../mail/store/account/account.ts';
import { routeFacts } from '../../../mail/store/address/route-facts.ts';
import { PAUSE_AFTER_MS } from '../../../src/domains/commands.ts';
import { dnsDriftNotices } from '../../../src/dns-providers/notice-source.ts';
import { unnotifiedDrifts } from '../../../src/domains/drift-commands.ts';
import { DomainRecheck } from '../../../src/domains/recheck.ts';
import { addEmailDomain } from '../../../src/operations/domains/add.ts';
import { listDnsRecords } from '../../../src/operations/domains/dns.ts';
import { getEmailDomain, listEmailDomains } from '../../../src/operations/domains/list.ts';
import { verifyEmailDomain } from '../../../src/operations/domains/verify.ts';
import { listEmails } from '../../../src/operations/mailboxes/list.ts';
import { provisionEmail } from '../../../src/operations/mailboxes/provision.ts';
import { calls, type Calls } from '../../support/calls.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const HOST = 'mail.box.example';
const HOUR = 3_600_000;
let box: Calls;
let zone: FakeZone;
/** The name servers of domains in the zones above. */
let above: Record<string, string[]>;
let warned: object[];
let owner: Caller;
let recheck: DomainRecheck;
let account: number;

beforeEach(async () => {
  zone = { [`A ${HOST}`]: ['192.0.2.10'] };
  const dns = fakeResolver(zone);
  above = {};
  const parents = (domain: string): Promise<string[] | undefined> => Promise.resolve(above[domain]);
  box = await calls({ lookNow: dns, resolver: dns, parents, settings: { live: true, hostname: HOST } });
  owner = await box.organization('Owner');
  await onboard('d.example');
  const { mailbox } = await box.done<{ mailbox: { id: string } }>(owner, provisionEmail, {
    domain: 'd.example',
    localPart: 'info',
  });
  account = Number(mailbox.id.slice(4));
  recheck = new DomainRecheck(box.world);
});
afterEach(async () => {
  await box[Symbol.asyncDispose]();
});

/** Adds a domain and publishes the records that it asks for. */
async function add(name: string): Promise<void> {
  box.test.store.clock.now += 1;
  const { records } = await box.done<{ records: { type: string; name: string; value: string; priority?: number }[] }>(
    owner,
    addEmailDomain,
    { domain: name },
  );
  for (const { type, name: at, value, priority } of records) {
    zone[`${type} ${at}`] = [priority === undefined ? value : `${priority} ${value}`];
  }
}

async function onboard(name: string): Promise<void> {
  await add(name);
  expect(await box.done(owner, verifyEmailDomain, { domain: name })).toMatchObject({ verified: true });
}

/** Hours pass, with a round after each `step` of them. */
async function pass(hours: number, step = 1): Promise<void> {
  for (let i = 0; i < hours; i += step) {
    box.test.store.clock.now += step * HOUR;
    await recheck.run();
  }
}

async function sending(): Promise<string> {
  const address = parseAddress('info@d.example');
  return box.world.store.read(ownsAddress, { account, keys: [address === undefined ? '' : addressKey(address)] });
}

async function shown() {
  const { domains } = await box.done<{ domains: object[] }>(owner, listEmailDomains);
  const { domain } = await box.done<{ domain: object }>(owner, getEmailDomain, { domain: 'd.example' });
  const { mailboxes } = await box.done<{ mailboxes: object[] }>(owner, listEmails);
  return [...domains, domain, ...mailboxes];
}

test('wrong records for three days pause sending, receiving goes on, and every listing says so', async () => {
  const mx = zone['MX d.example'] ?? [];
  zone['MX d.example'] = ['10 mx.other.example'];
  await pass(25);
  expect(await box.done(owner, getEmailDomain, { domain: 'd.example' })).toMatchObject({
    domain: {
      status: 'verified',
      sendingPaused: false,
      failingSince: expect.any(String),
      checks: { inboundMx: { status: 'fail' } },
    },
  });
  await pass(PAUSE_AFTER_MS / HOUR - 25);
  expect(await sending()).toBe('own');
  await pass(2);
  expect(await sending()).toBe('paused');
  for (const one of await shown()) expect(one).toMatchObject({ sendingPaused: true });
  const route = { domain: 'd.example', keys: ['info@d.example'], role: false, size: 1, now: null };
  expect(await box.world.store.read(routeFacts, route)).toMatchObject({ domain: 'verified', accounts: [account] });

  zone['MX d.example'] = mx;
  await pass(1);
  expect(await sending()).toBe('own');
  for (const one of await shown()) expect(one).toMatchObject({ sendingPaused: false });
  expect(await box.rows('SELECT failing_since FROM domain_setup')).toEqual([{ failing_since: null }]);
});

test('verifying by hand resumes at once', async () => {
  const mx = zone['MX d.example'] ?? [];
  zone['MX d.example'] = [];
  await pass(100, 10);
  expect(await sending()).toBe('paused');
  zone['MX d.example'] = mx;
  expect(await box.done(owner, verifyEmailDomain, { domain: 'd.example' })).toMatchObject({
    verified: true,
    changed: true,
    domain: { sendingPaused: false, failingSince: null },
  });
  expect(await sending()).toBe('own');
});

test('a DNS that does not answer for weeks changes nothing', async () => {
  for (const key of Object.keys(zone)) zone[key] = 'trouble';
  await pass(24 * 21, 12);
  expect(await sending()).toBe('own');
  expect(await box.rows('SELECT failing_since FROM domain_setup')).toEqual([{ failing_since: null }]);
});

test('a failure that passes in between begins the three days anew', async () => {
  const mx = zone['MX d.example'] ?? [];
  for (let i = 0; i < 4; i++) {
    zone['MX d.example'] = [];
    await pass(50, 10);
    zone['MX d.example'] = mx;
    await pass(1);
  }
  expect(await sending()).toBe('own');
});

test('each domain is looked at once an hour, the one that waits longest first, one a round', async () => {
  for (const name of ['a.example', 'b.example', 'c.example']) await onboard(name);
  const { queried } = box.world.lookNow as ReturnType<typeof fakeResolver>;
  queried.length = 0;
  await recheck.run();
  expect(queried).toEqual([]);
  box.test.store.clock.now += 25 * HOUR;
  for (let round = 0; round < 8; round++) await recheck.run();
  const looked = queried.filter((one) => one.startsWith('MX ')).map((one) => one.slice(3));
  expect(looked).toEqual(['d.example', 'a.example', 'b.example', 'c.example']);
});

test('owners are informed within the hour of each record that was right and is not any more, once', async () => {
  delete zone['TXT _dmarc.d.example'];
  await pass(1);
  const drifts = () => box.world.store.read(unnotifiedDrifts, undefined);
  expect(await drifts()).toMatchObject([{ name: 'd.example', manual: true, records: ['TXT _dmarc.d.example'] }]);
  const source = dnsDriftNotices({ ...box.world, baseUrl: () => '' });
  const [drift = expect.fail()] = await drifts();
  const letter = (await source.compose(drift)) ?? expect.fail();
  expect(await source.mark(drift, letter)).toEqual({ domain: 'd.example', records: 1 });
  await pass(3);
  expect(await drifts()).toEqual([]);

  zone['MX d.example'] = 'trouble';
  zone['CNAME mta-sts.d.example'] = ['other.example'];
  await pass(1);
  const records = ['TXT _dmarc.d.example', 'CNAME mta-sts.d.example'];
  expect(await drifts()).toMatchObject([{ records }]);
  await box.done(owner, verifyEmailDomain, { domain: 'd.example' });
  await pass(1);
  expect(await drifts()).toMatchObject([{ records }]);
});

test('a record that was never right is no loss, and one that comes back ends it', async () => {
  const mine = zone['MX d.example'] ?? [];
  await add('new.example');
  delete zone['TXT _dmarc.new.example'];
  expect(await box.done(owner, verifyEmailDomain, { domain: 'new.example' })).toMatchObject({ verified: true });
  await pass(4);
  zone['MX d.example'] = [];
  await pass(2);
  expect(await box.rows('SELECT records FROM dns_drift')).toEqual([
    // The SPF record authorizes the hosts of the MX, which is none now.
    { records: '["MX d.example","TXT d.example"]' },
  ]);
  zone['MX d.example'] = mine;
  await pass(2);
  expect(await box.rows('SELECT records FROM dns_drift')).toEqual([]);
});

test('owners hear of the digest of the settings document only after it was right once', async () => {
  const digest = 'TXT _ua-auto-config.d.example';
  const drifts = () => box.rows('SELECT records FROM dns_drift');
  const recorded = async () => {
    const { records } = await box.done<{ records: { name: string; status: string; value: string; why?: string }[] }>(
      owner,
      listDnsRecords,
      { domain: 'd.example' },
    );
    return records.find(({ name }) => name === '_ua-auto-config.d.example') ?? expect.fail();
  };
  await pass(2);
  expect(await drifts()).toEqual([]);
  // An upgrade brings the record, which nobody has published.
  Object.assign(box.world.settings, { baseUrl: `https://${HOST}` });
  await pass(4);
  expect(await recorded()).toMatchObject({ status: 'missing' });
  expect(await drifts()).toEqual([]);
  zone[digest] = ['v=UAAC1; a=sha256; d=WRONG='];
  await pass(4);
  expect(await recorded()).toMatchObject({ status: 'mismatch', why: expect.stringContaining('replace it') as string });
  expect(await drifts()).toEqual([]);
  zone[digest] = [(await recorded()).value];
  await pass(2);
  expect(await recorded()).toMatchObject({ status: 'ok' });
  // The digest changes with the URL, and mail programs reject the document until it is published.
  Object.assign(box.world.settings, { baseUrl: 'https://portal.example' });
  await pass(2);
  expect(await recorded()).toMatchObject({ status: 'mismatch' });
  expect(await drifts()).toEqual([{ records: JSON.stringify([digest]) }]);
  zone[digest] = [(await recorded()).value];
  await pass(2);
  expect(await drifts()).toEqual([]);
});

test('a domain that was never proved is not looked at', async () => {
  await box.done(owner, addEmailDomain, { domain: 'claimed.example' });
  const { queried } = box.world.lookNow as ReturnType<typeof fakeResolver>;
  queried.length = 0;
  await pass(50);
  expect(queried.filter((one) => one.includes('claimed'))).toEqual([]);
});

/** The same box with its name server on, and a domain that it serves. */
async function withServed(names: readonly string[]): Promise<void> {
  warned = [];
  const log = { ...box.world.log, warn: (fields: object) => void warned.push(fields) };
  const ports = { ...box.world.settings.ports, dns: { port: 53 } as never };
  Object.assign(box.world.settings, { ports });
  recheck = new DomainRecheck({ ...box.world, log });
  for (const name of names) {
    zone[`NS ${name}`] = 'trouble';
    above[name] = [HOST];
    await box.done(owner, addEmailDomain, { domain: name });
  }
}

const served = async (): Promise<string[]> => {
  const { domains } = await box.done<{ domains: { domain: string; dnsManaged: boolean }[] }>(owner, listEmailDomains);
  return domains.filter((one) => one.dnsManaged).map((one) => one.domain);
};

test('a served domain that leads elsewhere is served no more, and listing and log say so', async () => {
  await withServed(['led.example', 'more.example']);
  expect(await served()).toEqual(['led.example', 'more.example']);
  await pass(6);
  expect(await served()).toEqual(['led.example', 'more.example']);
  expect(warned).toEqual([]);
  above['more.example'] = ['ns.other.example'];
  await pass(6);
  expect(await served()).toEqual(['led.example']);
  expect(warned).toEqual([{ domain: 'more.example', observed: ['ns.other.example'] }]);
});

test('a DNS that does not answer, and a name server that is off for a while, end nothing', async () => {
  await withServed(['led.example']);
  delete above['led.example'];
  await pass(24 * 7, 6);
  expect(await served()).toEqual(['led.example']);
  const { ports } = box.world.settings;
  Object.assign(box.world.settings, { ports: { ...ports, dns: undefined } });
  above['led.example'] = ['ns.other.example'];
  await pass(48, 6);
  expect(await served()).toEqual(['led.example']);
  expect(warned).toEqual([]);
});

test('every served domain is asked for about once an hour, one a round', async () => {
  const names = ['a.example', 'b.example', 'c.example'];
  await withServed(names);
  const { queried } = box.world.lookNow as ReturnType<typeof fakeResolver>;
  queried.length = 0;
  for (let round = 0; round < 20; round++) await recheck.run();
  const followed = () => queried.filter((one) => one.startsWith('NS ')).map((one) => one.slice(3));
  expect(followed()).toEqual(names);
  box.test.store.clock.now += HOUR;
  for (let round = 0; round < 20; round++) await recheck.run();
  expect(followed()).toEqual([...names, ...names]);
});

const keys = () =>
  box.rows<{ name: string; selector: string; state: number; public: string }>(
    `SELECT d.name, k.selector, k.state, k.public FROM dkim_key k JOIN domain d ON d.id = k.domain_id
     ORDER BY d.name, k.selector`,
  );

/** Publishes the keys at the names to which the CNAMEs of a domain lead. */
async function publishKeys(domain: string): Promise<void> {
  for (const { name, selector, public: text } of await keys())
    if (name === domain) zone[`TXT ${selector}._domainkey.${name}`] = [text];
}

/** A domain whose selectors are CNAMEs, in a box with its name server on. */
async function addByName(name: string): Promise<void> {
  await withServed([]);
  await add(name);
  await publishKeys(name);
}

test('keys of a domain whose selectors are CNAMEs to this box get successors after 180 days, others only by hand', async () => {
  await addByName('c.example');
  expect(await box.done(owner, verifyEmailDomain, { domain: 'c.example' })).toMatchObject({ verified: true });

  box.test.store.clock.now += 179 * 24 * HOUR;
  await pass(3);
  expect(await keys()).toHaveLength(4);
  box.test.store.clock.now += 24 * HOUR;
  await pass(26);
  const added = (await keys()).filter(({ state }) => state === 0);
  expect(added.map(({ name, selector }) => `${selector} ${name}`)).toEqual(['ms3 c.example', 'ms4 c.example']);

  await publishKeys('c.example');
  await pass(26);
  const states = (await keys()).map(({ name, selector, state }) => `${name} ${selector} ${state}`);
  expect(states).toEqual([
    'c.example ms1 2',
    'c.example ms2 2',
    'c.example ms3 1',
    'c.example ms4 1',
    'd.example ms1 1',
    'd.example ms2 1',
  ]);
});

test('a domain with a selector that leads elsewhere keeps its keys: the successors would wait for ever', async () => {
  await addByName('c.example');
  zone['CNAME ms3._domainkey.c.example'] = ['ms3.other.example'];
  expect(await box.done(owner, verifyEmailDomain, { domain: 'c.example' })).toMatchObject({ verified: true });
  box.test.store.clock.now += 200 * 24 * HOUR;
  await pass(26);
  expect(await keys()).toHaveLength(4);
});
