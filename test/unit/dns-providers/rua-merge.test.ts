import { describe, expect, test } from 'vitest';
import { parseReportUris } from '../../../mail/reports/report-uris.ts';
import { planChanges, type PlanInput, planRemoval, type WrittenEntry } from '../../../src/dns-providers/plan.ts';
import { mergeRua, withoutRua } from '../../../src/dns-providers/rua-merge.ts';
import type { ZoneEntry } from '../../../src/dns-providers/zone-entry.ts';
import { requiredRecords } from '../../../src/domains/records.ts';
import { FAKE_ZONE } from '../../support/dns-apis/fake-dns-api.ts';
import { fakeHetzner } from '../../support/dns-apis/set-apis.ts';
import { publishingBox } from '../../support/publishing-box.ts';

const OURS = 'mailstead-reports@example.net';
const uris = (text: string): string[] => {
  const [, value = ''] = /(?:^|;)\s*rua\s*=([^;]*)/i.exec(text) ?? [];
  return parseReportUris(value).map((one) =>
    one.kind === 'https'
      ? one.url.href
      : `${one.address.local}@${one.address.domain}${one.maxOctets === undefined ? '' : ` ${one.maxOctets}`}`,
  );
};

describe('our address in the rua of a record of others', () => {
  test.each([
    ['v=DMARC1; p=reject', `v=DMARC1; p=reject; rua=mailto:${OURS}`, true],
    ['v=DMARC1;p=quarantine;', `v=DMARC1;p=quarantine; rua=mailto:${OURS}`, true],
    ['v=DMARC1; p=none; rua=', `v=DMARC1; p=none; rua=mailto:${OURS}`, true],
    [
      'v=DMARC1; p=reject; rua=mailto:a@x.example!10m; pct=50; ruf=mailto:f@x.example',
      `v=DMARC1; p=reject; rua=mailto:a@x.example!10m,mailto:${OURS}; pct=50; ruf=mailto:f@x.example`,
      true,
    ],
    [
      'V=DMARC1 ;P=none; RUA = mailto:a@x.example!2g , mailto:b@y.example',
      `V=DMARC1 ;P=none; RUA = mailto:a@x.example!2g , mailto:b@y.example,mailto:${OURS}`,
      false,
    ],
    [
      'v=TLSRPTv1;rua=https://tls.example/in,mailto:t@x.example;',
      `v=TLSRPTv1;rua=https://tls.example/in,mailto:t@x.example,mailto:${OURS};`,
      false,
    ],
  ])('%s', (text, merged, sure) => {
    expect(mergeRua(text, OURS)).toEqual({ kind: 'merged', text: merged, sure });
    // Our own report sender reads what was there before, and then our address.
    expect(uris(merged)).toEqual([...uris(text), OURS]);
    expect(mergeRua(merged, OURS)).toEqual({ kind: 'present' });
  });

  test.each([
    [`v=DMARC1; p=none; rua=mailto:a@x.example,mailto:${OURS.toUpperCase()}!10m`],
    [`v=DMARC1; p=none; rua=MAILTO:${OURS}?subject=x`],
  ])('is there already: %s', (text) => expect(mergeRua(text, OURS)).toEqual({ kind: 'present' }));

  test.each([
    ['v=DMARC1; rua=mailto:a@x.example; rua=mailto:b@x.example', 'two rua tags'],
    [`v=DMARC1; p=none; rua=${Array.from({ length: 30 }, (_, i) => `mailto:a${i}@x.example`).join(',')}`, 'too long'],
  ])('cannot be added: %s', (text, why) => {
    expect(mergeRua(text, OURS)).toEqual({ kind: 'impossible', why: expect.stringContaining(why) as string });
  });

  test.each([
    [`v=DMARC1; p=none; rua=mailto:${OURS}`, 'v=DMARC1; p=none'],
    [
      `v=DMARC1; p=none; rua=mailto:${OURS},mailto:a@x.example!10m; pct=5`,
      'v=DMARC1; p=none; rua=mailto:a@x.example!10m; pct=5',
    ],
    ['v=DMARC1; p=none; rua=mailto:a@x.example', undefined],
  ])('is taken out of %s', (text, left) => expect(withoutRua(text, OURS)).toBe(left));
});

const SERVER = { hostname: 'mail.box.test', byName: false };
const wanted = requiredRecords({ id: 1, name: 'example.net', keys: [], dmarc: 'reject' }, SERVER);
const dmarc = (value: string): ZoneEntry => ({
  type: 'TXT',
  name: '_dmarc.example.net',
  value,
  ttl: 300,
  id: '1',
  raw: '',
});
const plan = (found: ZoneEntry[], over: Partial<PlanInput> = {}) =>
  planChanges({
    wanted,
    found,
    written: [],
    authority: undefined,
    domain: 'example.net',
    hostname: 'mail.box.test',
    ...over,
  }).filter(({ name }) => name === '_dmarc.example.net');
const THEIRS = 'v=DMARC1; p=none; rua=mailto:a@x.example!10m';
const MERGED = `v=DMARC1; p=none; rua=mailto:a@x.example!10m,mailto:${OURS}`;

describe('the plan', () => {
  test('suggests the merge, and makes it where it was chosen; the policy stays', () => {
    const [suggested] = plan([dmarc(THEIRS)]);
    expect(suggested).toMatchObject({ action: 'suggest', before: THEIRS, value: MERGED });
    expect(suggested?.change).toBeUndefined();
    expect(suggested?.why).toMatch(
      /^optional: reports go to this server too; the policy and the addresses of others stay/,
    );
    const [merged] = plan([dmarc(THEIRS)], { mergeReports: true });
    expect(merged).toMatchObject({
      action: 'merge',
      before: THEIRS,
      value: MERGED,
      change: { remove: [dmarc(THEIRS)] },
    });
    const written = [merged?.writes ?? expect.fail()];
    expect(plan([dmarc(MERGED)], { written })).toMatchObject([{ action: 'keep', value: MERGED }]);
  });

  test('says that some reporters send to two addresses only', () => {
    const [step] = plan([dmarc(`${THEIRS},mailto:b@x.example`)]);
    expect(step?.why).toContain('some reporters send to the first two addresses only');
  });

  test('suggests nothing while the MX is another server, or where several records make all invalid', () => {
    const mx: ZoneEntry = { ...dmarc('10 mx.old.example'), type: 'MX', name: 'example.net' };
    expect(plan([dmarc(THEIRS), mx], { mergeReports: true })).toMatchObject([{ action: 'conflict', before: THEIRS }]);
    const two = [dmarc(THEIRS), { ...dmarc('v=DMARC1; p=reject'), id: '2' }];
    expect(plan(two, { mergeReports: true })).toMatchObject([{ action: 'conflict' }]);
  });

  test('is reversible, also after others changed the record', () => {
    const written: WrittenEntry[] = [
      { type: 'TXT', name: '_dmarc.example.net', value: MERGED, before: { value: THEIRS, ttl: 300, raw: 'raw' } },
    ];
    expect(planRemoval({ found: [dmarc(MERGED)], written })).toMatchObject([
      { action: 'restore', value: THEIRS, before: MERGED, change: { add: [{ value: THEIRS, ttl: 300, raw: 'raw' }] } },
    ]);
    const changed = MERGED.replace('p=none', 'p=reject');
    expect(planRemoval({ found: [dmarc(changed)], written })).toMatchObject([
      { action: 'restore', value: 'v=DMARC1; p=reject; rua=mailto:a@x.example!10m', before: changed },
    ]);
    expect(planRemoval({ found: [dmarc('v=DMARC1; p=reject')], written })).toEqual([]);
  });
});

test('at a provider: suggested, published on request only, kept by the next publication, and taken back', async () => {
  const api = fakeHetzner();
  const names = [`_dmarc.${FAKE_ZONE}`, `_smtp._tls.${FAKE_ZONE}`];
  const foreign = ['"v=DMARC1; p=quarantine; rua=mailto:d@x.example!10m"', '"v=TLSRPTv1; rua=https://tls.example/in"'];
  names.forEach((name, i) => api.zone.add(name, 'TXT', 3600, foreign[i] ?? ''));
  const there = (): string[] =>
    names.map((name) =>
      api.zone.records
        .filter((one) => one.name === name)
        .map(({ data }) => data)
        .join(' | '),
    );
  await using box = await publishingBox(FAKE_ZONE, { transport: async (request) => api.answer(request) });
  await box.do('connect_dns_provider', { provider: 'hetzner', credentials: api.credentials });
  const actions = async (operation: string, args = {}): Promise<string[]> => {
    const { changes } = (await box.do(operation, args)) as { changes: { action: string; name: string }[] };
    return names.flatMap((name) => changes.filter((one) => one.name === name).map(({ action }) => action));
  };
  expect(await actions('preview_dns_changes')).toEqual(['suggest', 'suggest']);
  expect(await actions('publish_dns_records')).toEqual(['suggest', 'suggest']);
  expect(there()).toEqual(foreign);
  expect(await actions('publish_dns_records', { mergeReports: true })).toEqual(['merge', 'merge']);
  const ours = `mailto:mailstead-reports@${FAKE_ZONE}`;
  expect(there()).toEqual([
    `"v=DMARC1; p=quarantine; rua=mailto:d@x.example!10m,${ours}"`,
    `"v=TLSRPTv1; rua=https://tls.example/in,${ours}"`,
  ]);
  await box.do('set_dmarc_policy', { policy: 'reject' });
  expect(await actions('publish_dns_records')).toEqual(['keep', 'keep']);
  await box.do('disconnect_dns_provider', { removeRecords: true });
  expect(there()).toEqual(foreign);
});
