import { describe, expect, test } from 'vitest';
import type { Settings } from '../../../config/settings.ts';
import { checkSpfRecord, measureSpf } from '../../../src/domains/spf.ts';
import { FAKE_ZONE } from '../../support/dns-apis/fake-dns-api.ts';
import { fakeHetzner } from '../../support/dns-apis/set-apis.ts';
import { fakeResolver, type FakeZone } from '../../support/fake-resolver.ts';
import { publishingBox } from '../../support/publishing-box.ts';

const HOST = 'mail.box.test';
const IP = '198.51.100.25';
const NEWS = 'TXT _spf.news.example';

interface Change {
  action: string;
  value: string | null;
  before: string | null;
  why: string | null;
}

/** `count` includes, each of which needs `each` further lookups. */
function includes(count: number, each: number): { text: string; dns: FakeZone } {
  const names = Array.from({ length: count }, (_, i) => `n${i}.example`);
  const dns: FakeZone = {};
  for (const name of names) {
    dns[`TXT ${name}`] = [`v=spf1 ${Array.from({ length: each }, (_, i) => `a:h${i}.${name}`).join(' ')} -all`];
    for (let i = 0; i < each; i++) dns[`A h${i}.${name}`] = ['203.0.113.9'];
  }
  return { text: `v=spf1 ${names.map((name) => `include:${name}`).join(' ')} -all`, dns };
}

/** A domain whose zone has these records, and what would be done about its SPF record. */
async function planned(
  records: readonly [type: string, data: string][],
  dns: FakeZone,
  settings: Partial<Settings> = {},
) {
  const api = fakeHetzner();
  for (const [type, data] of records) api.zone.add(FAKE_ZONE, type, 3600, type === 'TXT' ? `"${data}"` : data);
  const world = { [`A ${HOST}`]: [IP], ...dns };
  const box = await publishingBox(FAKE_ZONE, {
    transport: async (request) => api.answer(request),
    dns: world,
    settings,
  });
  await box.do('connect_dns_provider', { provider: 'hetzner', credentials: api.credentials });
  const plan = async (operation: string): Promise<Change> => {
    const { changes } = (await box.do(operation)) as { changes: (Change & { type: string; name: string })[] };
    return (
      changes.find(
        ({ type, name, value }) => type === 'TXT' && name === FAKE_ZONE && value?.startsWith('v=spf1') === true,
      ) ?? expect.fail('no SPF')
    );
  };
  const there = (): string[] =>
    api.zone.records.flatMap(({ name, data }) =>
      name === FAKE_ZONE && data.includes('v=spf1') ? [data.replaceAll('"', '')] : [],
    );
  /** The published record, as another server evaluates it for our addresses. */
  const verdict = async (...addresses: string[]): Promise<string> => {
    const [text = ''] = there();
    const mx = records.filter(([type]) => type === 'MX').map(([, data]) => data.replace(/\.$/, ''));
    const zone = { ...world, [`TXT ${FAKE_ZONE}`]: [text], [`MX ${FAKE_ZONE}`]: mx.length > 0 ? mx : [`10 ${HOST}`] };
    const { status } = await checkSpfRecord(fakeResolver(zone), FAKE_ZONE, addresses);
    return status;
  };
  return { box, plan, there, verdict, [Symbol.asyncDispose]: () => box[Symbol.asyncDispose]() };
}

describe('lookups are counted through all includes', () => {
  test.each([
    [1, 0, 1],
    [3, 2, 9],
    [3, 3, 11],
    [9, 0, 9],
  ])('%i includes of %i lookups each need %i', async (count, each, lookups) => {
    const { text, dns } = includes(count, each);
    expect((await measureSpf(fakeResolver(dns), 'd.example', text)).lookups).toBe(lookups);
  });

  test('redirects, MX, nested includes and what is behind an all that ends it', async () => {
    const dns: FakeZone = {
      'TXT a.example': ['v=spf1 include:b.example redirect=c.example'],
      'TXT b.example': ['v=spf1 mx exists:%{i}.x.example ~all a:never.example'],
      'MX b.example': ['10 h.example'],
      'A h.example': ['203.0.113.9'],
      'TXT c.example': ['v=spf1 ptr -all'],
    };
    const cost = await measureSpf(fakeResolver(dns), 'd.example', 'v=spf1 include:a.example -all');
    expect(cost).toEqual({ lookups: 6, void: 0 });
  });

  test('names without records, and a lookup without an answer', async () => {
    const cost = (text: string, dns: FakeZone) => measureSpf(fakeResolver(dns), 'd.example', text);
    expect(await cost('v=spf1 a:n0.example mx:n1.example -all', {})).toEqual({ lookups: 2, void: 2 });
    expect(await cost('v=spf1 a:n0.example a:n1.example a:n2.example -all', {})).toMatchObject({ void: 3 });
    expect(await cost('v=spf1 include:x.example -all', { 'TXT x.example': 'trouble' })).toMatchObject({
      pending: expect.stringContaining('x.example') as string,
    });
  });
});

describe('an SPF record of others', () => {
  test('with 9 lookups through its includes is merged; the preview says 10 of 10', async () => {
    const { text, dns } = includes(3, 2);
    await using made = await planned([['TXT', text]], dns);
    const preview = await made.plan('preview_dns_changes');
    expect(preview).toMatchObject({ action: 'merge', before: text });
    expect(preview.why).toContain(`authorizes the addresses of this server by a:${HOST}`);
    expect(preview.why).toContain('10 of 10 DNS lookups');
    await made.plan('publish_dns_records');
    expect(made.there()).toEqual([text.replace('v=spf1', `v=spf1 a:${HOST}`)]);
    expect(await made.verdict(IP)).toBe('pass');
  });

  test('with 10 lookups, two of them at the top, is refused with what to do', async () => {
    const { text, dns } = includes(2, 4);
    await using made = await planned([['TXT', text]], dns);
    const { action, why } = await made.plan('preview_dns_changes');
    expect(action).toBe('conflict');
    expect(why).toContain('needs 10 of 10 DNS lookups with all its includes');
    expect(why).toContain('remove an include that is not used any more');
    await made.plan('publish_dns_records');
    expect(made.there()).toEqual([text]);
  });

  test('with 10 lookups is merged where the settings name the addresses: these need no lookup', async () => {
    const { text, dns } = includes(2, 4);
    const settings = { outboundAddresses: { ipv4: '198.51.100.77', ipv6: undefined } };
    await using made = await planned([['TXT', text]], dns, settings);
    expect((await made.plan('preview_dns_changes')).why).toContain('10 of 10 DNS lookups');
    await made.plan('publish_dns_records');
    expect(made.there()).toEqual([text.replace('v=spf1', 'v=spf1 ip4:198.51.100.77')]);
    expect(await made.verdict('198.51.100.77')).toBe('pass');
    await made.box.do('disconnect_dns_provider', { removeRecords: true });
    expect(made.there()).toEqual([text]);
  });

  test.each<[string, string, FakeZone, string]>([
    ['that is over the limit', includes(3, 3).text, includes(3, 3).dns, 'needs more than 10 DNS lookups'],
    ['with three dead names', 'v=spf1 a:x.example a:y.example a:z.example -all', {}, 'more than 2 hosts'],
    [
      'whose include does not answer',
      'v=spf1 include:_spf.news.example -all',
      { [NEWS]: 'trouble' },
      'try again later',
    ],
  ])('%s is left as it is, and the reason is said', async (_, text, dns, reason) => {
    await using made = await planned([['TXT', text]], dns);
    const { action, why } = await made.plan('preview_dns_changes');
    expect(action).toBe('conflict');
    expect(why).toContain(reason);
    await made.plan('publish_dns_records');
    expect(made.there()).toEqual([text]);
  });

  test('that is broken for others is merged, as ours is first, and says so', async () => {
    await using made = await planned([['TXT', 'v=spf1 include:gone.example -all']], {});
    const { action, why } = await made.plan('preview_dns_changes');
    expect(action).toBe('merge');
    expect(why).toContain('invalid for its other senders: gone.example has no SPF record');
  });

  test('that has the addresses already is kept, with its count in the preview', async () => {
    await using made = await planned([['TXT', 'v=spf1 mx a:x.example -all']], { 'A x.example': ['203.0.113.1'] });
    const { action, why } = await made.plan('preview_dns_changes');
    expect([action, why]).toEqual(['keep', 'authorizes the addresses of this server by mx; 2 of 10 DNS lookups']);
  });
});

describe('a new SPF record authorizes the addresses from which mail leaves', () => {
  test('those of the host by the MX', async () => {
    await using made = await planned([], {});
    expect((await made.plan('publish_dns_records')).why).toContain('authorizes the addresses of this server by mx');
    expect(made.there()).toEqual(['v=spf1 mx ~all']);
    expect(await made.verdict(IP)).toBe('pass');
  });

  test('those of the settings, which the host does not have', async () => {
    const settings = { outboundAddresses: { ipv4: '198.51.100.77', ipv6: '2001:db8::77' } };
    await using made = await planned([], {}, settings);
    await made.plan('publish_dns_records');
    expect(made.there()).toEqual(['v=spf1 mx ip4:198.51.100.77 ip6:2001:db8::77 ~all']);
    expect(await made.verdict('198.51.100.77', '2001:db8::77')).toBe('pass');
    const { records } = (await made.box.do('list_dns_records')) as { records: { purpose: string; value: string }[] };
    expect(records.find(({ purpose }) => purpose === 'spf')?.value).toBe(made.there()[0]);
  });

  test('by the name of the host, while the MX is another server', async () => {
    await using made = await planned([['MX', '10 mx.old.example.']], { 'A mx.old.example': ['203.0.113.1'] });
    await made.plan('publish_dns_records');
    expect(made.there()).toEqual([`v=spf1 mx a:${HOST} ~all`]);
    expect(await made.verdict(IP)).toBe('pass');
  });

  test('or says that the host has none yet', async () => {
    await using made = await planned([], { [`A ${HOST}`]: [] });
    expect((await made.plan('preview_dns_changes')).why).toContain(`${HOST} has no address in the DNS yet`);
  });
});
