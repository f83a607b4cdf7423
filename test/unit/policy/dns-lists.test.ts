import { describe, expect, test } from 'vitest';
import type { Log } from '../../../mail/log.ts';
import { addressLabels, interpretListing } from '../../../mail/policy/lists/dns-list.ts';
import { DnsLists, type DnsListsOptions } from '../../../mail/policy/lists/dns-lists.ts';
import type { Sample } from '../../../mail/policy/sample.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import { sampleWith } from '../../support/sample.ts';

const sane = (zone: string): FakeZone => ({ [`A 2.0.0.127.${zone}`]: ['127.0.0.2'] });
const saneHosts = (zone: string): FakeZone => ({ [`A test.${zone}`]: ['127.0.0.2'] });
const list = (zone: string, some: object = {}): DnsListsOptions['addresses'][number] => ({
  zone,
  score: 2.5,
  refuse: false,
  ...some,
});
const from = (ip: string, some: Partial<Sample> = {}): Sample =>
  sampleWith({ peer: { ip, helo: 'a.example', name: 'a.example' }, ...some });
const listed = from('198.51.100.0');

/** Public addresses that nobody answers for. */
const BAD = '11.22.33.44';
const badQuestion = 'A 44.33.22.11';

function world(zone: FakeZone, lists: Partial<DnsListsOptions> = {}) {
  const resolver = fakeResolver(zone);
  const said: string[] = [];
  const log: Log = { debug() {}, info: (_f, text) => said.push(text), warn: (_f, text) => said.push(text), error() {} };
  const clock = { now: 0 };
  const lists_ = new DnsLists({
    resolver,
    addresses: [list('bl.org')],
    hosts: [],
    log,
    monotonic: () => clock.now,
    ...lists,
  });
  return { lists: lists_, resolver, said, clock, zone };
}

test.each([
  ['192.0.2.7', '7.2.0.192'],
  ['::ffff:192.0.2.7', '7.2.0.192'],
  ['2001:db8::7', '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2'],
  ['nothing', undefined],
])('%s is asked for as %s', (ip, labels) => expect(addressLabels(ip)).toBe(labels));

test.each([
  [['127.0.0.2'], 'listed'],
  [['127.0.0.10', '127.0.0.4'], 'listed'],
  [['127.1.2.3'], 'listed'],
  [['127.255.255.254'], 'refused'],
  [['127.0.0.2', '127.255.255.252'], 'refused'],
  [['127.0.1.255'], 'refused'],
  [['127.0.0.1'], 'refused'],
  [['203.0.113.7'], 'refused'],
])('the answer %j means: %s', (records, kind) =>
  expect(interpretListing({ kind: 'found', records })).toMatchObject({ kind }),
);

test('what is listed counts once a list, and says where', async () => {
  const zone = { ...sane('bl.org'), ...sane('other.org'), [`${badQuestion}.bl.org`]: ['127.0.0.2'] };
  const { lists } = world(zone, { addresses: [list('bl.org'), list('other.org')] });
  expect(await lists.findings(from(BAD))).toEqual([
    {
      rule: 'address-list',
      score: 2.5,
      why: `The list bl.org contains the sending address ${BAD}`,
      flag: 'blocklisted',
    },
  ]);
  expect(await lists.findings(from('11.22.33.45'))).toEqual([]);
});

test.each(['127.0.0.1', '10.1.2.3', '::1', 'fe80::1', '192.0.2.7', 'nothing', listed.peer.ip])(
  'nobody is asked about mail from %s, which is not public',
  async (ip) => {
    const { lists, resolver } = world(sane('bl.org'), { hosts: [list('uri.org')] });
    await lists.findings(from(ip, { links: [{ url: 'https://evil.com/', text: '' }] }));
    expect(resolver.queried).toEqual([]);
  },
);

describe('a list that is not sane rejects no mail', () => {
  test.each<[string, FakeZone, string]>([
    ['lists the world', { 'A 1.0.0.127.bl.org': ['127.0.0.2'], ...sane('bl.org') }, 'lists its negative test entry'],
    ['has no test entry', {}, 'has no test entry'],
    [
      'was sold',
      { 'A 1.0.0.127.bl.org': ['203.0.113.9'], 'A 2.0.0.127.bl.org': ['203.0.113.9'] },
      'refuses queries from this resolver',
    ],
    ['refuses this resolver', { 'A 2.0.0.127.bl.org': ['127.255.255.254'] }, 'refuses queries from this resolver'],
    ['is down', { 'A 1.0.0.127.bl.org': 'trouble', 'A 2.0.0.127.bl.org': 'trouble' }, 'could not be reached'],
  ])('it %s', async (_what, zone, why) => {
    const { lists, said } = world(
      { ...zone, [`${badQuestion}.bl.org`]: ['127.0.0.2'] },
      { addresses: [list('bl.org', { refuse: true })] },
    );
    for (let i = 0; i < 3; i++) expect(await lists.findings(from(BAD))).toEqual([]);
    expect(lists.states()).toEqual([{ zone: 'bl.org', kind: 'address', state: 'off', why }]);
    expect(said).toHaveLength(1);
  });

  test('refusals later switch it off for an hour, and back on when they end', async () => {
    const { lists, clock, said, zone, resolver } = world({
      ...sane('bl.org'),
      [`${badQuestion}.bl.org`]: ['127.0.0.2'],
    });
    expect(await lists.findings(from(BAD))).toHaveLength(1);
    zone[`${badQuestion}.bl.org`] = ['127.255.255.255'];
    expect(await lists.findings(from(BAD))).toEqual([]);
    zone[`${badQuestion}.bl.org`] = ['127.0.0.2'];
    const before = resolver.queried.length;
    expect(await lists.findings(from(BAD))).toEqual([]);
    expect(resolver.queried).toHaveLength(before);
    clock.now += 3_600_000;
    expect(await lists.findings(from(BAD))).toHaveLength(1);
    expect(said).toEqual(['DNS list suspended', 'DNS list resumed']);
  });

  test('it is looked at again each hour, and for a refusal each five minutes', async () => {
    const { lists, clock, zone } = world(
      {
        ...sane('bl.org'),
        ...sane('hard.org'),
        [`${badQuestion}.bl.org`]: ['127.0.0.2'],
        [`${badQuestion}.hard.org`]: ['127.0.0.2'],
      },
      { addresses: [list('bl.org'), list('hard.org', { refuse: true })] },
    );
    expect((await lists.findings(from(BAD))).map(({ refuse }) => refuse)).toEqual([undefined, true]);
    zone['A 1.0.0.127.bl.org'] = ['127.0.0.2'];
    zone['A 1.0.0.127.hard.org'] = ['127.0.0.2'];
    clock.now += 6 * 60_000;
    expect((await lists.findings(from(BAD))).map(({ refuse }) => refuse)).toEqual([undefined]);
    clock.now += 60 * 60_000;
    expect(await lists.findings(from(BAD))).toEqual([]);
  });

  test('many messages at once look at it once', async () => {
    const { lists, resolver } = world(sane('bl.org'));
    await Promise.all(Array.from({ length: 20 }, () => lists.findings(from(BAD))));
    expect(resolver.queried.filter((question) => question === 'A 2.0.0.127.bl.org')).toHaveLength(1);
  });
});

describe('a resolver that everybody uses', () => {
  const refusing = { 'A 2.0.0.127.bl.org': ['127.255.255.254'], 'A 1.0.0.127.bl.org': ['127.255.255.254'] };

  test.each([
    ['8.8.8.8', 'Google'],
    ['127.0.0.53,1.1.1.1:5353', 'Cloudflare'],
    ['[2620:fe::fe]:53', 'Quad9'],
    ['::ffff:208.67.222.222', 'OpenDNS'],
  ])('%s is reported once, and why a list that refuses it is off', async (servers, owner) => {
    const { lists, said } = world(refusing, { servers: servers.split(',') });
    for (let i = 0; i < 3; i++) expect(await lists.findings(from(BAD))).toEqual([]);
    expect(said).toEqual([
      'DNS lists are queried through a public resolver, which most lists refuse',
      'DNS list suspended',
    ]);
    expect(lists.states()[0]?.why).toMatch(
      new RegExp(`^refuses queries from this resolver: .* of ${owner} is a public resolver$`),
    );
  });

  test.each(['127.0.0.1', '192.0.2.53:53', '[::1]:53', 'fe80::1%eth0', 'nonsense', ''])(
    '%s is none',
    async (server) => {
      const { lists, said } = world(sane('bl.org'), { servers: [server] });
      await lists.findings(from(BAD));
      expect(said).toEqual([]);
    },
  );

  test('one behind the resolver of this machine is found out by its refusals', async () => {
    const { lists } = world(refusing, { servers: ['127.0.0.53'] });
    expect(await lists.findings(from(BAD))).toEqual([]);
    expect(lists.states()).toMatchObject([{ state: 'off', why: 'refuses queries from this resolver' }]);
  });

  test('nobody is informed of it where no list is asked', async () => {
    const { lists, said } = world({}, { servers: ['8.8.8.8'], addresses: [] });
    await lists.findings(from(BAD));
    expect(said).toEqual([]);
  });
});

describe('lists of hosts', () => {
  const links = (...urls: string[]): Sample =>
    from(BAD, { author: 'a@sender.com', links: urls.map((url) => ({ url, text: '' })) });

  test('are asked for what somebody registered', async () => {
    const { lists } = world(
      { ...saneHosts('uri.org'), 'A evil.co.uk.uri.org': ['127.0.0.4'] },
      { addresses: [], hosts: [list('uri.org')] },
    );
    expect(await lists.findings(links('https://good.com/', 'https://www.shop.evil.co.uk/x'))).toMatchObject([
      { rule: 'host-list', why: 'The list uri.org contains evil.co.uk, which the message mentions' },
    ]);
  });

  test('are asked for ten names at most, and for none that cannot be', async () => {
    const { lists, resolver } = world(saneHosts('uri.org'), { addresses: [], hosts: [list('uri.org')] });
    const many = Array.from({ length: 50 }, (_, i) => `https://host${i}.com/`);
    await lists.findings(
      links('https://192.0.2.1/', 'https://a.test/', 'https://localhost/', 'mailto:x@y.com', ...many),
    );
    const names = resolver.queried.filter((question) => !/^A (?:test|invalid)\./.test(question));
    expect(names).toHaveLength(10);
    expect(names.every((question) => /^A (?:sender|host\d+)\.com\.uri\.org$/.test(question))).toBe(true);
  });

  test('have test entries of their own', async () => {
    const { lists } = world(
      { 'A dbltest.com.dbl.spamhaus.org': ['127.0.1.2'], 'A bad.com.dbl.spamhaus.org': ['127.0.1.4'] },
      { addresses: [], hosts: [list('dbl.spamhaus.org')] },
    );
    expect(await lists.findings(links('https://bad.com/'))).toHaveLength(1);
  });
});

test('a list that does not answer in time does not count, and holds up nothing', async () => {
  const { lists } = world({}, { resolver: { a: () => new Promise(() => undefined) }, timeoutMs: 5 });
  expect(await lists.findings(from(BAD))).toEqual([]);
});
