import { describe, expect, test } from 'vitest';
import { findDestination, type ConnectionRules } from '../../../mail/relay/destination.ts';
import { chooseMx, interleave } from '../../../mail/relay/mx.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';

const P1 = '9.9.9.1';
const P2 = '9.9.9.2';
const P3 = '9.9.9.3';
const SIX = '2620:fe::1';

async function find(domain: string, zone: FakeZone, rules: Partial<ConnectionRules> = {}): Promise<string> {
  const destination = await findDestination(domain, {
    resolver: fakeResolver(zone),
    random: () => 0.999,
    port: 25,
    allowPrivate: () => false,
    isOurName: (host) => host === 'box.test',
    isOurAddress: (ip) => ip === '9.9.9.100',
    ...rules,
  });
  if (destination.kind === 'hosts') return destination.hosts.map((host) => `${host.name}=${host.ip}`).join(' ');
  return `${destination.kind} ${destination.status}`;
}

const HOSTS: FakeZone = { 'A a.test': [P1], 'A b.test': [P2], 'A c.test': [P3], 'A box.test': ['9.9.9.100'] };

describe('where mail goes', () => {
  const table: [string, FakeZone, string][] = [
    ['one MX', { 'MX d.test': ['10 a.test'] }, `a.test=${P1}`],
    [
      'by preference',
      { 'MX d.test': ['30 c.test', '10 a.test', '20 b.test'] },
      `a.test=${P1} b.test=${P2} c.test=${P3}`,
    ],
    ['the same host twice', { 'MX d.test': ['10 a.test', '20 a.test'] }, `a.test=${P1}`],
    ['IPv6 first, by turns', { 'MX d.test': ['10 a.test'], 'AAAA a.test': [SIX] }, `a.test=${SIX} a.test=${P1}`],
    ['IPv6 alone', { 'MX d.test': ['10 six.test'], 'AAAA six.test': [SIX] }, `six.test=${SIX}`],
    ['an MX without address beside one with', { 'MX d.test': ['10 gone.test', '20 b.test'] }, `b.test=${P2}`],
    [
      'an MX in trouble beside one that answers',
      { 'MX d.test': ['10 x.test', '20 b.test'], 'A x.test': 'trouble' },
      `b.test=${P2}`,
    ],
    ['AAAA in trouble, A answers', { 'MX d.test': ['10 a.test'], 'AAAA a.test': 'trouble' }, `a.test=${P1}`],
    ['A in trouble, no AAAA', { 'MX d.test': ['10 x.test'], 'A x.test': 'trouble' }, 'deferred 4.4.3'],
    ['no MX: the address', { 'A d.test': [P1] }, `d.test=${P1}`],
    ['no MX: the IPv6 address', { 'AAAA d.test': [SIX] }, `d.test=${SIX}`],
    ['no MX, address in trouble', { 'A d.test': 'trouble' }, 'deferred 4.4.3'],
    ['MX in trouble', { 'MX d.test': 'trouble', 'A d.test': [P1] }, 'deferred 4.4.3'],
    ['neither MX nor address', { 'TXT d.test': ['x'] }, 'failed 5.1.2'],
    ['no such domain', {}, 'failed 5.1.2'],
    ['null MX', { 'MX d.test': ['0 .'], 'A d.test': [P1] }, 'failed 5.1.10'],
    ['null MX with a wrong preference', { 'MX d.test': ['10 .'] }, 'failed 5.1.10'],
    ['null MX beside a real one', { 'MX d.test': ['0 .', '10 a.test'] }, `a.test=${P1}`],
    ['MX without any address', { 'MX d.test': ['10 gone.test'], 'A d.test': [P1] }, 'failed 5.4.4'],
    ['MX is ourselves by name', { 'MX d.test': ['10 box.test'] }, 'failed 5.4.6'],
    ['MX is ourselves by address', { 'MX d.test': ['10 other.test'], 'A other.test': ['9.9.9.100'] }, 'failed 5.4.6'],
    ['better than ourselves', { 'MX d.test': ['10 a.test', '20 box.test', '30 b.test'] }, `a.test=${P1}`],
    ['equal to ourselves', { 'MX d.test': ['10 a.test', '10 box.test'] }, 'failed 5.4.6'],
    [
      'better than our address',
      { 'MX d.test': ['10 a.test', '20 other.test', '30 b.test'], 'A other.test': ['9.9.9.100'] },
      `a.test=${P1}`,
    ],
    ['better than ourselves, without address', { 'MX d.test': ['10 gone.test', '20 box.test'] }, 'failed 5.4.4'],
    [
      'equal to our address',
      { 'MX d.test': ['10 a.test', '10 other.test'], 'A other.test': ['9.9.9.100'] },
      'failed 5.4.6',
    ],
    ['the address is ours', { 'A d.test': ['9.9.9.100'] }, 'failed 5.4.6'],
    ['private', { 'MX d.test': ['10 in.test'], 'A in.test': ['10.0.0.1'] }, 'failed 5.4.4'],
    [
      'private by IPv6 disguise',
      { 'MX d.test': ['10 in.test'], 'AAAA in.test': ['::ffff:169.254.169.254'] },
      'failed 5.4.4',
    ],
    ['private by NAT64', { 'MX d.test': ['10 in.test'], 'AAAA in.test': ['64:ff9b::7f00:1'] }, 'failed 5.4.4'],
    ['private beside public', { 'MX d.test': ['10 in.test', '20 a.test'], 'A in.test': ['127.0.0.1'] }, `a.test=${P1}`],
    [
      'private beside trouble',
      { 'MX d.test': ['10 in.test', '20 x.test'], 'A in.test': ['127.0.0.1'], 'A x.test': 'trouble' },
      'deferred 4.4.3',
    ],
    ['an exchanger that is an address in words', { 'MX d.test': ['10 127.0.0.1'] }, 'failed 5.4.4'],
  ];
  test.each(table)('%s', async (_name, zone, expected) => {
    expect(await find('d.test', { ...HOSTS, ...zone })).toBe(expected);
  });

  test.each([
    ['[9.9.9.1]', '9.9.9.1=9.9.9.1'],
    ['[ipv6:2620:fe::1]', '2620:fe::1=2620:fe::1'],
    ['[127.0.0.1]', 'failed 5.4.4'],
    ['[ipv6:::1]', 'failed 5.4.4'],
    ['[ipv6:9.9.9.1]', 'failed 5.1.2'],
    ['[999.1.1.1]', 'failed 5.1.2'],
    ['[9.9.9.100]', 'failed 5.4.6'],
    ['box.test', 'failed 5.4.6'],
  ])('to %s: %s', async (domain, expected) => {
    expect(await find(domain, HOSTS)).toBe(expected);
  });

  test('what is allowed may be private, to that port only', async () => {
    const zone: FakeZone = { 'MX d.test': ['10 in.test'], 'A in.test': ['10.0.0.1', '10.0.0.2'] };
    const allowPrivate = (ip: string, port: number): boolean => ip === '10.0.0.2' && port === 25;
    expect(await find('d.test', zone, { allowPrivate })).toBe('in.test=10.0.0.2');
    expect(await find('d.test', zone, { allowPrivate, port: 26 })).toBe('failed 5.4.4');
  });

  test('the refusal of a private address says what to do', async () => {
    const destination = await findDestination('[127.0.0.1]', {
      resolver: fakeResolver({}),
      random: Math.random,
      port: 25,
      allowPrivate: () => false,
      isOurName: () => false,
      isOurAddress: () => false,
    });
    expect(destination).toMatchObject({ text: expect.stringContaining('MAILSTEAD_ALLOW_PRIVATE_NETWORKS') });
  });
});

test('equal preference is shuffled: each comes first about as often', () => {
  let state = 1;
  const random = (): number => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
  const first: Record<string, number> = {};
  for (let n = 0; n < 3000; n += 1) {
    const records = ['a', 'b', 'c'].map((exchange) => ({ preference: 10, exchange }));
    const choice = chooseMx([...records, { preference: 20, exchange: 'last' }], () => false, random);
    const names = choice.kind === 'exchanges' ? choice.exchanges.map((record) => record.exchange) : [];
    expect(names).toHaveLength(4);
    expect(names[3]).toBe('last');
    first[names[0] ?? ''] = (first[names[0] ?? ''] ?? 0) + 1;
  }
  for (const name of ['a', 'b', 'c']) expect(first[name]).toBeGreaterThan(900);
});

test('a thousand exchangers are not all asked about', () => {
  const records = Array.from({ length: 1000 }, (_, n) => ({ preference: n, exchange: `mx${n}.test` }));
  expect(chooseMx(records, () => false, Math.random)).toMatchObject({ exchanges: { length: 20 } });
});

test.each([
  [['6a', '6b'], ['4a'], ['6a', '4a', '6b']],
  [[], ['4a', '4b'], ['4a', '4b']],
  [['6a'], [], ['6a']],
])('%j and %j by turns', (six, four, expected) => {
  expect(interleave(six, four)).toEqual(expected);
});
