import { describe, expect, test } from 'vitest';
import { parseSpf, spfTexts } from '../../../src/domains/spf-record.ts';
import { checkSpfRecord } from '../../../src/domains/spf.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const BOX = 'mail.box.example';
const ADDRESS = '192.0.2.10';
const many = (count: number, of: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => of(i));

/** Evaluates the record of d.example in a zone, for a box with these addresses. */
function classifier(record: string | string[], zone: FakeZone = {}, addresses: readonly string[] = [ADDRESS]) {
  const dns = fakeResolver({
    'TXT d.example': record === 'trouble' ? record : [record].flat(),
    [`A ${BOX}`]: [ADDRESS],
    ...zone,
  });
  return checkSpfRecord(dns, 'd.example', addresses).then((result) => ({
    ...result,
    queried: dns.queried,
  }));
}

describe('what names the box', () => {
  test.each<[string, FakeZone]>([
    ['v=spf1 mx ~all', { 'MX d.example': [`10 ${BOX}`] }],
    [`v=spf1 a:${BOX} -all`, {}],
    [`V=SPF1 A:${BOX.toUpperCase()} -ALL`, {}],
    ['v=spf1 a -all', { 'A d.example': [ADDRESS] }],
    ['v=spf1 a/24 -all', { 'A d.example': ['192.0.2.200'] }],
    ['v=spf1 mx/24//64 -all', { 'MX d.example': ['10 other.example'], 'A other.example': ['192.0.2.1'] }],
    ['v=spf1 ip4:192.0.2.10', {}],
    ['v=spf1 ip4:192.0.2.0/24 -all', {}],
    ['v=spf1 ip6:2001:db8::/32 ip4:192.0.2.10 -all', {}],
    ['v=spf1 +all', {}],
    ['v=spf1   mx   -all  ', { 'MX d.example': [`10 ${BOX}`] }],
    ['v=spf1 include:p.example -all', { 'TXT p.example': ['v=spf1 ip4:192.0.2.10 -all'] }],
    ['v=spf1 redirect=p.example', { 'TXT p.example': ['v=spf1 ip4:192.0.2.10 -all'] }],
    // The modifier counts where no mechanism matched, wherever it stands. RFC 7208 6.1.
    ['v=spf1 redirect=p.example ip4:198.51.100.1', { 'TXT p.example': ['v=spf1 ip4:192.0.2.10 -all'] }],
    ['v=spf1 exp=why.example future=anything ip4:192.0.2.10', {}],
    ['v=spf1 include:soft.example ip4:192.0.2.10', { 'TXT soft.example': ['v=spf1 ~all'] }],
    // Nothing here knows what macros come to: they match nothing and spoil nothing.
    ['v=spf1 exists:%{i}._spf.d.example a:%{d}.x.example ptr ip4:192.0.2.10', {}],
  ])('%s', async (record, zone) => {
    expect(await classifier(record, zone)).toMatchObject({ status: 'pass' });
  });
});

describe('what does not', () => {
  test.each<[string, FakeZone]>([
    ['v=spf1 -all', {}],
    ['v=spf1 ?all', {}],
    ['v=spf1 -ip4:192.0.2.0/24 +all', {}],
    ['v=spf1 ~mx ip4:192.0.2.10', { 'MX d.example': [`10 ${BOX}`] }],
    ['v=spf1 ip4:192.0.2.11', {}],
    ['v=spf1', {}],
    ['v=spf1 include:p.example', { 'TXT p.example': ['v=spf1 -ip4:192.0.2.10 +all'] }],
    ['v=spf1 include:%{d}.p.example -all', {}],
    ['v=spf1 redirect=d.example', {}],
    ['v=spf1 redirect=%{d}', {}],
    // RFC 7208 5.1: what follows `all` is not looked at.
    ['v=spf1 -all ip4:192.0.2.10', {}],
    ['v=spf1 -all redirect=p.example', { 'TXT p.example': ['v=spf1 +all'] }],
  ])('%s', async (record, zone) => {
    expect(await classifier(record, zone)).toMatchObject({ status: 'fail' });
  });

  test('no record, several records, and text that only looks like one', async () => {
    expect(await classifier([])).toMatchObject({ status: 'fail', detail: 'd.example has no SPF record' });
    expect(await classifier(['v=spf10 +all', 'spf1 +all', 'v=spf1+all'])).toMatchObject({ status: 'fail' });
    const two = await classifier(['v=spf1 +all', 'V=SPF1 +all']);
    expect(two).toMatchObject({ status: 'fail', detail: 'd.example has several SPF records, only one is allowed' });
    expect(spfTexts(['v=spf1', 'v=spf1 +all', 'v=spf1\t+all'])).toEqual(['v=spf1', 'v=spf1 +all']);
  });

  test('each address of the box has to pass', async () => {
    expect(await classifier('v=spf1 ip4:192.0.2.10 -all', {}, [ADDRESS, '2001:db8::1'])).toMatchObject({
      status: 'fail',
    });
    const both = 'v=spf1 ip4:192.0.2.10 ip6:2001:db8::/64 -all';
    expect(await classifier(both, {}, [ADDRESS, '2001:db8::1'])).toMatchObject({ status: 'pass' });
  });
});

describe('receivers give up on the whole record (RFC 7208 4.6) because of', () => {
  test.each([
    'mx:',
    'a:',
    'include',
    'include:',
    'exists',
    'all:x',
    'all/24',
    'foo',
    'foo:bar',
    'ip4',
    'ip4:',
    'ip4:192.0.2.0/33',
    'ip4:192.0.2',
    'ip4:0300.0.2.10',
    'ip4:192.0.2.10//24',
    'ip4:2001:db8::1',
    'ip6:192.0.2.10',
    'ip6:2001:db8::/129',
    'a/33',
    'a/024',
    'a//129',
    '=x',
    'redirect=',
    'redirect=p.example redirect=p.example',
    'exp=',
    '++all',
    '-',
    'ip4:192.0.2.10,',
    'a:x.example/',
  ])('%s', async (term) => {
    const result = await classifier(`v=spf1 ip4:192.0.2.10 ${term} +all`);
    expect(result).toMatchObject({ status: 'fail' });
    expect(result.detail).toContain('invalid term');
    expect(result.queried).toEqual(['TXT d.example']);
  });

  test.each<[string, FakeZone, string]>([
    ['an included domain without a record', { 'TXT p.example': ['hello'] }, 'has no SPF record'],
    ['an included domain with two', { 'TXT p.example': ['v=spf1 -all', 'v=spf1 +all'] }, 'several'],
    ['an included record that is wrong', { 'TXT p.example': ['v=spf1 ip4:1'] }, 'invalid term'],
    ['an include that includes itself', { 'TXT p.example': ['v=spf1 include:p.example'] }, 'DNS lookups'],
    ['a circle', { 'TXT p.example': ['v=spf1 include:d.example'] }, 'DNS lookups'],
    [
      'a redirect that never ends',
      { 'TXT p.example': ['v=spf1 redirect=q.example'], 'TXT q.example': ['v=spf1 redirect=p.example'] },
      'DNS lookups',
    ],
  ])('%s', async (_, zone, why) => {
    const result = await classifier('v=spf1 include:p.example +all', zone);
    expect(result).toMatchObject({ status: 'fail' });
    expect(result.detail).toContain(why);
    expect(result.queried.length).toBeLessThanOrEqual(12);
  });
});

describe('limits', () => {
  const hosts = (count: number): FakeZone =>
    Object.fromEntries(many(count, (i) => `A h${i}.example`).map((key) => [key, ['198.51.100.1']]));

  test('ten look-ups are fine, and an eleventh is not', async () => {
    const record = (count: number): string =>
      `v=spf1 ${many(count, (i) => `a:h${i}.example`).join(' ')} ip4:192.0.2.10`;
    expect(await classifier(record(10), hosts(11))).toMatchObject({ status: 'pass' });
    const over = await classifier(record(11), hosts(11));
    expect(over).toMatchObject({ status: 'fail', detail: 'the record needs more than 10 DNS lookups' });
    expect(over.queried.filter((one) => one.startsWith('A '))).toHaveLength(10);
  });

  test('includes share the look-ups, however wide the tree is', async () => {
    const wide = `v=spf1 ${many(8, (i) => `include:n${i}.example`).join(' ')} ~all`;
    const zone = Object.fromEntries(many(8, (i) => `TXT n${i}.example`).map((key) => [key, [wide]]));
    const result = await classifier(wide, zone);
    expect(result).toMatchObject({ status: 'fail', detail: 'the record needs more than 10 DNS lookups' });
    expect(result.queried.length).toBeLessThanOrEqual(11);
  });

  test('ip4, ip6 and all cost nothing', async () => {
    const record = `v=spf1 ${many(60, (i) => `ip4:198.51.100.${i}`).join(' ')} ip4:192.0.2.10 -all`;
    expect(await classifier(record)).toMatchObject({ status: 'pass' });
  });

  test('two names may lead nowhere, a third may not', async () => {
    expect(await classifier('v=spf1 a:n0.example mx:n1.example ip4:192.0.2.10')).toMatchObject({ status: 'pass' });
    const three = await classifier('v=spf1 a:n0.example mx:n1.example a:n2.example ip4:192.0.2.10');
    expect(three).toMatchObject({ status: 'fail', detail: 'the record has more than 2 names without records' });
  });

  test('a domain with eleven MX records is an error for everybody', async () => {
    const zone = { 'MX d.example': [...many(10, (i) => `20 h${i}.example`), `10 ${BOX}`] };
    expect(await classifier('v=spf1 mx -all', { ...zone, ...hosts(10) })).toMatchObject({ status: 'fail' });
  });

  test('a record of 60,000 octets takes time by its length', async () => {
    const read = async (size: number): Promise<void> => {
      await classifier(`v=spf1 ${'a'.repeat(size)}`);
      await classifier(`v=spf1 ${'/1'.repeat(size / 2)}`);
      await classifier(`v=spf1${' '.repeat(size)}x`);
      await classifier(`v=spf1 ${'ip4:192.0.2.1/3 '.repeat(size / 16)}`);
    };
    expect(await growth(read, 60_000)).toBeLessThan(PROPORTIONAL);
  });
});

describe('a DNS that does not answer is no verdict', () => {
  test.each<[string, string, FakeZone]>([
    ['the record', 'trouble', {}],
    ['a host', 'v=spf1 a:h.example ip4:192.0.2.10', { 'A h.example': 'trouble' }],
    ['an MX', 'v=spf1 mx ip4:192.0.2.10', { 'MX d.example': 'trouble' }],
    ['a host of an MX', 'v=spf1 mx -all', { 'MX d.example': ['10 h.example'], 'A h.example': 'trouble' }],
    ['an include', 'v=spf1 include:p.example -all', { 'TXT p.example': 'trouble' }],
    ['a redirect', 'v=spf1 redirect=p.example', { 'TXT p.example': 'trouble' }],
  ])('%s', async (_, record, zone) => {
    expect(await classifier(record, zone)).toMatchObject({ status: 'pending' });
  });

  test('but what matched before it counts', async () => {
    expect(await classifier('v=spf1 ip4:192.0.2.10 a:h.example', { 'A h.example': 'trouble' })).toMatchObject({
      status: 'pass',
    });
  });
});

test('a record is read into its terms', () => {
  expect(parseSpf('v=spf1 ~a:x.example/20//60 redirect=y.example')).toEqual({
    mechanisms: [{ qualifier: '~', name: 'a', value: 'x.example', four: 20, six: 60, text: '~a:x.example/20//60' }],
    redirect: 'y.example',
  });
});
