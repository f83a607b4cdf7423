import { describe, expect, test } from 'vitest';
import { authenticateMessage } from '../../support/authenticate-message.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import { boundedResolver } from '../../../mail/dns/bounded-resolver.ts';
import { checkSpf } from '../../../mail/auth/spf.ts';

async function spf(zone: FakeZone, client = { ip: '198.51.100.1', helo: 'mx.peer.example', sender: 'me@box.test' }) {
  const resolver = boundedResolver(fakeResolver(zone), { maxQuestions: 100, timeoutMs: 60_000 });
  const { result } = await checkSpf(client, resolver);
  resolver.close();
  return { result, queried: resolver.questionCount };
}

const numbered = (n: number, each: (i: number) => string): string =>
  Array.from({ length: n }, (_, i) => each(i)).join(' ');

/** Row C8. */
describe('a hostile SPF policy', () => {
  const many = (n: number): FakeZone => ({
    'TXT box.test': [`v=spf1 ${numbered(n, (i) => `include:i${i}.test`)} -all`],
    ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`TXT i${i}.test`, ['v=spf1 ?all']])),
  });
  const exchanges = (n: number): FakeZone => ({
    'TXT box.test': ['v=spf1 mx -all'],
    'MX box.test': Array.from({ length: n }, (_, i) => `10 mx${i}.box.test`),
    ...Object.fromEntries(Array.from({ length: n }, (_, i) => [`A mx${i}.box.test`, ['192.0.2.1']])),
  });

  test.each<[string, FakeZone, string]>([
    ['includes itself', { 'TXT box.test': ['v=spf1 include:box.test -all'] }, 'permerror'],
    ['leads to itself', { 'TXT box.test': ['v=spf1 redirect=box.test'] }, 'permerror'],
    ['10 includes, which is the most', many(10), 'fail'],
    ['11 includes', many(11), 'permerror'],
    ['10 exchanges, which is the most', exchanges(10), 'fail'],
    ['111 exchanges', exchanges(111), 'permerror'],
    [
      'a huge record',
      { 'TXT box.test': [`v=spf1 ${numbered(4000, (i) => `ip4:10.${i >> 8}.${i & 255}.1`)} -all`] },
      'fail',
    ],
    ['two answers with nothing', { 'TXT box.test': ['v=spf1 a:x.test a:y.test -all'] }, 'fail'],
    ['three answers with nothing', { 'TXT box.test': ['v=spf1 a:x.test a:y.test a:z.test -all'] }, 'permerror'],
    ['a name in circles', { 'TXT box.test': ['v=spf1 a:loop.test -all'], 'A loop.test': 'trouble' }, 'temperror'],
    ['two policies', { 'TXT box.test': ['v=spf1 +all', 'v=spf1 -all'] }, 'permerror'],
    ['a slip of the pen behind what matches', { 'TXT box.test': ['v=spf1 +all ip4:1.2.3'] }, 'permerror'],
  ])('%s', async (_what, zone, result) => {
    const found = await spf(zone);
    expect(found.result).toBe(result);
    expect(found.queried).toBeLessThanOrEqual(12);
  });

  test('many exchanges of many domains come to an end', async () => {
    const zone: FakeZone = { 'TXT box.test': [`v=spf1 ${numbered(10, (i) => `mx:d${i}.test`)} -all`] };
    for (let d = 0; d < 10; d += 1) {
      zone[`MX d${d}.test`] = Array.from({ length: 10 }, (_, i) => `10 m${i}.d${d}.test`);
      for (let i = 0; i < 10; i += 1) zone[`A m${i}.d${d}.test`] = ['192.0.2.1'];
    }
    const found = await spf(zone);
    expect(found.result).toBe('permerror');
    expect(found.queried).toBeLessThanOrEqual(25);
  });

  test('an address with 111 names has ten looked at', async () => {
    const zone: FakeZone = { 'TXT box.test': ['v=spf1 ptr -all'] };
    zone['PTR 198.51.100.1'] = Array.from({ length: 111 }, (_, i) => `h${i}.box.test`);
    for (let i = 0; i < 111; i += 1) zone[`A h${i}.box.test`] = ['192.0.2.1'];
    expect(await spf(zone)).toEqual({ result: 'fail', queried: 12 });
  });

  test('exchanges without addresses of the client’s family are no answers with nothing', async () => {
    const zone = exchanges(5);
    expect((await spf(zone, { ip: '2001:db8::1', helo: 'x', sender: 'me@box.test' })).result).toBe('fail');
  });
});

describe('one budget of look-ups a message', () => {
  test('what is silent is not waited for longer than that, and the rest is known', async () => {
    const zone: FakeZone = { 'TXT box.test': ['v=spf1 ip4:198.51.100.1 -all'] };
    const inner = fakeResolver(zone);
    const silent = new Promise<never>(() => undefined);
    const resolver = {
      ...inner,
      srv: () => silent,
      ptr: () => silent,
      txt: (name: string) => (name.startsWith('_dmarc') ? silent : inner.txt(name)),
    };
    const bounded = boundedResolver(resolver, { maxQuestions: 10, timeoutMs: 30 });
    const found = await Promise.all([
      bounded.txt('box.test'),
      bounded.ptr('192.0.2.1'),
      bounded.txt('_dmarc.box.test'),
    ]);
    expect(found.map(({ kind }) => kind)).toEqual(['found', 'trouble', 'trouble']);
    expect((await bounded.a('late.test')).kind).toBe('trouble');
    expect(bounded.questionCount).toBe(3);
  });

  test('the same is asked once, and no more than so much', async () => {
    const inner = fakeResolver({});
    const bounded = boundedResolver(inner, { maxQuestions: 3, timeoutMs: 60_000 });
    for (const name of ['a.test', 'A.test', 'b.test', 'c.test', 'd.test', 'a.test']) await bounded.a(name);
    expect(inner.queried).toEqual(['A a.test', 'A b.test', 'A c.test']);
    expect((await bounded.a('d.test')).kind).toBe('trouble');
    bounded.close();
    expect((await bounded.a('a.test')).kind).toBe('none');
    expect((await bounded.aaaa('a.test')).kind).toBe('trouble');
  });

  const sealedBy = (n: number): string =>
    Array.from({ length: n }, (_, at) => {
      const i = at + 1;
      const tags = `i=${i}; a=rsa-sha256; d=d${i}.example; s=s; b=AA==`;
      return `ARC-Seal: ${tags}; cv=${i === 1 ? 'none' : 'pass'}\r\nARC-Message-Signature: ${tags}; h=from; bh=AA==\r\nARC-Authentication-Results: i=${i}; x\r\n`;
    }).join('');

  test('fifty seals leave no question open that is about the author', async () => {
    const hosts = Array.from({ length: 20 }, (_, i) => `mx${i}.box.test`);
    const zone: FakeZone = {
      'TXT box.test': [`v=spf1 ${numbered(8, (i) => `include:i${i}.test`)} mx mx:b.test -all`],
      ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`TXT i${i}.test`, ['v=spf1 ?all']])),
      'MX box.test': hosts.slice(10).map((name) => `10 ${name}`),
      'MX b.test': hosts.slice(0, 10).map((name) => `10 ${name}`),
      ...Object.fromEntries(hosts.map((name) => [`A ${name}`, ['192.0.2.1']])),
      'PTR 198.51.100.1': Array.from({ length: 10 }, (_, i) => `h${i}.evil.test`),
    };
    const signature = 'DKIM-Signature: v=1; a=rsa-sha256; d=s%.example; s=s; h=from; bh=AA==; b=AA==\r\n';
    const signatures = Array.from({ length: 8 }, (_, i) => signature.replace('%', String(i))).join('');
    const message = `${sealedBy(50)}${signatures}From: me@a.b.c.d.e.f.g.h.box.test\r\n\r\nx`;
    const found = await authenticateMessage(message, { zone, sender: 'me@box.test' });
    expect(found.spf.result).toBe('fail');
  });

  test('fifty seals, eight signatures and everything else', async () => {
    const signature = 'DKIM-Signature: v=1; a=rsa-sha256; d=d%.example; s=s; h=from; bh=AA==; b=AA==\r\n';
    const signatures = Array.from({ length: 100 }, (_, i) => signature.replace('%', String(i)));
    const message = `${sealedBy(50)}${signatures.join('')}From: me@a.b.c.d.e.f.g.h.example\r\n\r\nx`;
    const found = await authenticateMessage(message);
    expect([found.arc, found.dkim.length, found.dmarc.result]).toEqual(['fail', 8, 'none']);
  });
});

/** The name of an address, RFC 8601 2.7.3. */
test.each<[string, FakeZone, string, string]>([
  ['leads back', { 'PTR 198.51.100.1': ['mx.x.example'], 'A mx.x.example': ['198.51.100.1'] }, 'pass', 'mx.x.example'],
  [
    'one of several leads back',
    { 'PTR 198.51.100.1': ['a.x.example', 'b.x.example'], 'A b.x.example': ['198.51.100.1'] },
    'pass',
    'b.x.example',
  ],
  ['leads elsewhere', { 'PTR 198.51.100.1': ['mx.x.example'], 'A mx.x.example': ['192.0.2.1'] }, 'fail', ''],
  ['is not there', {}, 'permerror', ''],
  ['cannot be looked up', { 'PTR 198.51.100.1': 'trouble' }, 'temperror', ''],
  [
    'cannot be looked up backwards',
    { 'PTR 198.51.100.1': ['mx.x.example'], 'A mx.x.example': 'trouble' },
    'temperror',
    '',
  ],
])('iprev: %s', async (_what, zone, result, name) => {
  expect((await authenticateMessage('From: me@x.example\r\n\r\n', { zone })).iprev).toEqual({
    result,
    name,
    ip: '198.51.100.1',
  });
});
