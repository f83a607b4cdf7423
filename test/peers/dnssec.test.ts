import type { RecordType } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryServer } from '../../mail/dns/exchange.ts';
import { createSecureResolver } from '../../mail/dns/secure-resolver.ts';
import { quiet } from '../../mail/log.ts';
import { ChallengeAnswers } from '../../src/acme/challenge-answers.ts';
import { daneState } from '../../src/certificates/dane.ts';
import { storeCertificate } from '../../src/certificates/commands.ts';
import { ensureNextKey } from '../../src/certificates/sealed-keys.ts';
import { boxZones } from '../../src/domains/zones.ts';
import { dsTextOf } from '../../src/domains/zone-keys.ts';
import { withChallengeTexts } from '../../src/name-server/challenge-texts.ts';
import { ZoneSigner } from '../../src/name-server/dnssec/zone-signer.ts';
import { type DnsServer, startDns } from '../../src/name-server/server.ts';
import type { FindZone, ZoneRecord } from '../../src/name-server/zone.ts';
import { addEmailDomain } from '../../src/operations/domains/add.ts';
import { calls, type Calls } from '../support/calls.ts';
import { fakeResolver } from '../support/fake-resolver.ts';
import { freePort } from '../support/free-port.ts';
import { startValidatingResolver } from '../support/validating-resolver.ts';

const HOST = 'mail.box.example';
const KEYS = `dkim.${HOST}`;
const LED = 'led.example';
const CHILD = 'team.led.example';
const CHALLENGE = `_acme-challenge.mta-sts.${LED}`;
const DAY = 24 * 3_600_000;

type Resolver = Awaited<ReturnType<typeof startValidatingResolver>>;

const stack = new AsyncDisposableStack();
let box: Calls;
let find: FindZone;
let server: DnsServer;
let resolver: Resolver;
/** Time of the signatures. */
let now = Date.now();
/** Id of the domain that is led here. */
let id = 0;

/** The zone of the host, which others serve and sign: an alias leads from it into the zone of the keys. */
const hostZone: FindZone = (name) => {
  if (name !== 'box.example' && !name.endsWith('.box.example')) return Promise.resolve(undefined);
  const zone = { apex: 'box.example', server: 'ns.box.example', exists: true };
  const records: Record<string, ZoneRecord[]> = {
    [HOST]: [{ type: 'A', value: '192.0.2.10' }],
    [`_25._tcp.${HOST}`]: [{ type: 'CNAME', value: `_25._tcp.${KEYS}` }],
  };
  return Promise.resolve({ ...zone, records: records[name] ?? [] });
};

beforeAll(async () => {
  const dns = fakeResolver({ [`A ${HOST}`]: ['192.0.2.10'], [`NS ${LED}`]: [HOST], [`NS ${CHILD}`]: [HOST] });
  const settings = { live: true, hostname: HOST, ports: { dns: { port: 53 } } as never };
  box = stack.use(await calls({ lookNow: dns, resolver: dns, settings }));
  const owner = await box.organization('Owner');
  for (const domain of [LED, CHILD]) {
    const { domain: added } = await box.done<{ domain: { id: string } }>(owner, addEmailDomain, { domain });
    if (domain === LED) id = Number(added.id.slice(4));
  }
  const { store, secrets } = box.world;
  const [next] = await ensureNextKey({ store, secrets }, HOST, 'ecdsa');
  const dates = { notBefore: 0, notAfter: 9, renewAt: 5, windowAt: 1 };
  const spki = next?.spki ?? expect.fail('no key');
  await store.write(storeCertificate, { name: HOST, algorithm: 'ecdsa', names: [HOST], chain: '', spki, ...dates });
  const challenges = new ChallengeAnswers();
  challenges.addText(CHALLENGE, 'proof');
  const zones = withChallengeTexts(boxZones(store, dns, { hostname: HOST, baseUrl: `https://${HOST}` }), challenges);
  find = async (name) => (await zones(name)) ?? hostZone(name);
  server = await serve((purpose) => secrets.subkey(purpose));
  resolver = stack.use(await startValidatingResolver({ server: server.port, anchors: anchors() }));
});
afterAll(() => stack.disposeAsync());

/** DS records as the zones above have them: the zone of the keys has its own in the zone of the host. */
function anchors(): Record<string, string> {
  return Object.fromEntries([LED, 'box.example'].map((zone) => [zone, dsTextOf(box.world.secrets, zone)]));
}

async function serve(derive: (purpose: string) => Buffer): Promise<DnsServer> {
  const signer = new ZoneSigner({ derive, clock: () => now });
  const port = await freePort();
  const opened = await startDns({ hosts: ['127.0.0.1'], port, find, signer, log: quiet, meter: quiet });
  stack.defer(() => opened.close());
  return opened;
}

/** Looks up records at a resolver that validates: its code, AD, and the number of records of the type. */
async function resolved(name: string, type: RecordType, at: Resolver = resolver): Promise<string> {
  const response = await queryServer(at, { name, type, recurse: true }, 10_000);
  if (response === undefined) return 'no answer';
  const { rcode } = response as unknown as { rcode: string };
  const records = response.answers?.filter((one) => one.type === type) ?? [];
  return `${rcode} ${response.flag_ad ? 'validated' : 'insecure'} ${records.length}`;
}

describe('BIND validates', () => {
  test.each<[RecordType, string]>([
    ['SOA', LED],
    ['NS', LED],
    ['MX', LED],
    ['TXT', LED],
    ['DNSKEY', LED],
    ['TXT', `_dmarc.${LED}`],
    ['TXT', `ms1._domainkey.${LED}`],
    ['TXT', `_ua-auto-config.${LED}`],
    ['TXT', CHALLENGE],
    ['CNAME', `autoconfig.${LED}`],
    ['SRV', `_imaps._tcp.${LED}`],
    ['DS', CHILD],
    ['MX', CHILD],
    ['NS', KEYS],
    ['DS', KEYS],
    ['TXT', `ms1.dom_ID.${KEYS}`],
    ['A', `dom-ID.ns.${KEYS}`],
    ['TLSA', `_25._tcp.${KEYS}`],
  ])('the %s record of %s', async (type, name) => {
    expect(await resolved(name.replace('ID', `${id}`), type)).toMatch(/^NOERROR validated [1-9]/);
  });

  test.each<[string, RecordType, string]>([
    ['another type at the top', 'AAAA', LED],
    ['another type at a name', 'A', `_dmarc.${LED}`],
    ['a name between two others', 'TXT', `_domainkey.${LED}`],
    ['a name that does not exist', 'A', `www.${LED}`],
    ['a name far below', 'TXT', `a.b.c.d.${LED}`],
    ['a name with a star', 'A', `*.${LED}`],
    ['a name below an alias', 'A', `a.autoconfig.${LED}`],
    ['a name that does not exist in a zone below', 'A', `www.${CHILD}`],
    ['a selector that nobody has', 'TXT', `ms9.dom_1.${KEYS}`],
    ['a long name', 'A', `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${LED}`],
  ])('that there is nothing: %s', async (_, type, name) => {
    expect(await resolved(name, type)).toBe('NOERROR validated 0');
  });
});

test('DANE works through an alias from the signed zone of the host into the zone of the keys', async () => {
  const secure = createSecureResolver({ servers: [resolver] });
  const found = await daneState(secure, HOST);
  expect(found).toMatchObject({
    kind: 'signed',
    tlsa: { kind: 'found', secure: true, alias: `_25._tcp.${KEYS}`, records: [{ usage: 3, selector: 1 }] },
  });
});

test('of another key nothing is accepted', async () => {
  const other = await serve(() => Buffer.alloc(32, 9));
  await using strict = await startValidatingResolver({ server: other.port, anchors: anchors() });
  expect(await resolved(LED, 'MX', strict)).toBe('SERVFAIL insecure 0');
  expect(await resolved(`www.${LED}`, 'A', strict)).toBe('SERVFAIL insecure 0');
});

test.each([
  ['a day and a half behind', -1.5, 'NOERROR validated 1'],
  ['ten days ahead', 10, 'SERVFAIL insecure 0'],
  ['twelve days behind', -12, 'NOERROR validated 1'],
  ['a month behind', -30, 'SERVFAIL insecure 0'],
  ['a day and a half ahead', 1.5, 'NOERROR validated 1'],
])('a clock that is %s', async (_, days, said) => {
  now = Date.now() + days * DAY;
  try {
    await using fresh = await startValidatingResolver({ server: server.port, anchors: anchors() });
    expect(await resolved(LED, 'MX', fresh)).toBe(said);
  } finally {
    now = Date.now();
  }
});
